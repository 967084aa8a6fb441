package runes

import "testing"

func TestUnsafe(t *testing.T) {
	for r, want := range map[rune]bool{
		'a': false, '\n': false, '\t': false, ' ': false, 'é': false, '語': false, '😀': false,
		'\u200c': false, '\u200d': false, '\ufe0f': false, // joiners and emoji: scripts need them
		0: true, '\r': true, 0x1b: true, 0x7f: true, 0x9b: true,
		'\u200b': true, '\ufeff': true, '\u2060': true, '\u2063': true,
		'\u202e': true, '\u202a': true, '\u2066': true, '\u2069': true, '\u200e': true, '\u061c': true,
		0xe0000: true, 0xe0001: true, 0xe0041: true, 0xe007f: true, 0xe0100: true, 0xf0000: false,
	} {
		if got := Unsafe(r); got != want {
			t.Errorf("%U: %v, want %v", r, got, want)
		}
	}
}
