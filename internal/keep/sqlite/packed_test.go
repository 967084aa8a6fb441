package sqlite

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const sentence = "The worker restarts the poller after a failed request, so that nothing which was accepted before is lost."

func TestPackedTextIsTheSame(t *testing.T) {
	for _, text := range []string{"", "short", sentence, strings.Repeat(sentence, 700), strings.Repeat("ab\x00\xff", 50), string(dictionary1)} {
		if got := Unpack(Pack(text)); got != text {
			t.Errorf("%.40q of %d bytes came back as %.40q of %d", text, len(text), got, len(got))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		text = strings.Repeat(text, rapid.IntRange(1, 9).Draw(t, "times"))
		if got := Unpack(Pack(text)); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
	})
}

func TestPackedTextIsShorter(t *testing.T) {
	const text = sentence + " Whoever calls it again meanwhile waits until the first call has ended, and is given the answer of that call."
	packed, ok := Pack(text).([]byte)
	if !ok || len(packed) > len(text)*6/10 {
		t.Errorf("%d bytes of two sentences were packed as %T of %d", len(text), Pack(text), len(packed))
	}
	random := make([]byte, 200)
	for i := range random {
		random[i] = byte(i*i*31 + i*7)
	}
	if got := Pack(string(random)); got != string(random) {
		t.Errorf("a text that does not shrink was stored as %T", got)
	}
}

// A column that is damaged, or was never one of ours, has no text; it harms nothing.
func TestDamagedPackedText(t *testing.T) {
	packed := Pack(strings.Repeat(sentence, 3)).([]byte)
	for n := range packed {
		if got := Unpack(packed[:n]); got != "" {
			t.Errorf("%d of %d bytes are read as %q", n, len(packed), got)
		}
	}
	for _, column := range []any{append(bytes.Clone(packed), 0), []byte{9, 1, 2}, []byte{1, 0xff, 0xff}, int64(7), 1.5, nil} {
		if got := Unpack(column); got != "" {
			t.Errorf("%v is read as %q", column, got)
		}
	}
	// Zeros shrink to a thousandth: a small blob that asks for much memory.
	if got := Unpack(Pack(strings.Repeat("\x00", mostUnpacked))); len(got) != mostUnpacked {
		t.Errorf("the longest text came back with %d bytes", len(got))
	}
}

// packedOnce is sentence as it was packed when packing began.
const packedOnce = "01425af78218148187127ca6087af619d2a01a74ad02347a90123e78e0213505a9bc004f9400020000ffff"

// What was packed by an earlier program can be read for ever.
func TestPackedByEarlierPrograms(t *testing.T) {
	packed, err := hex.DecodeString(packedOnce)
	if err != nil || Unpack(packed) != sentence {
		t.Errorf("got %q, %v", Unpack(packed), err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(dictionary1)); got != "346de8e5251c9eb94816c0eef58ea760360bb0fc1a5581fe3927795244e78f8f" {
		t.Errorf("the dictionary has changed: %s", got)
	}
}

func TestPackedInSQL(t *testing.T) {
	db, err := sql.Open("sqlite", "file:packed?mode=memory")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, want := range []string{sentence, sentence + "\x00" + sentence, packedOnce + sentence, "\x00 short", "\xff" + sentence} {
		var kind, text, twice, number, none string
		err = db.QueryRow("SELECT typeof(packed(?1)), unpacked(packed(?1)), unpacked(packed(packed(?1))), typeof(packed(5)), unpacked(NULL)", want).Scan(&kind, &text, &twice, &number, &none)
		if err != nil || (kind == "blob") != (len(want) >= shortestPacked) || text != want || twice != want || number != "integer" || none != "" {
			t.Errorf("%q: got %s %q %q %s %q %v", want, kind, text, twice, number, none, err)
		}
	}
}

func TestPackedTextsOfAFile(t *testing.T) {
	other := strings.Repeat(sentence, 2)
	once, err := hex.DecodeString(packedOnce)
	if err != nil {
		t.Fatal(err)
	}
	b := append(bytes.Repeat([]byte{1, 0}, 500), once...)
	b = append(append(b, "between"...), Pack(other).([]byte)...)
	got := PackedTexts(append(b, 0, 1, 1))
	begins := func(text string) bool {
		return slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, text) })
	}
	if !begins(sentence) || !begins(other) {
		t.Errorf("found %q", got)
	}
	cut := Pack(other).([]byte)
	if got = PackedTexts(cut[:len(cut)-3]); !begins(sentence[:oncePacked]) {
		t.Errorf("of a text without its end %q is found", got)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(Pack(sentence + sentence).([]byte))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, column []byte) {
		if text := Unpack(column); text != "" && Unpack(Pack(text)) != text {
			t.Errorf("%x: %q is not packed as it was", column, text)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	text := strings.Repeat(sentence, 7)
	for b.Loop() {
		Pack(text)
	}
}

func BenchmarkUnpack(b *testing.B) {
	packed := Pack(strings.Repeat(sentence, 7))
	for b.Loop() {
		Unpack(packed)
	}
}
