package text

import "testing"

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 9999: "9999 B", 10_000: "10 kB", 9_999_999: "9999 kB", 12_540_000: "12.5 MB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
