package text

import "testing"

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 9999: "9999 B", 10_000: "10 kB", 999_999: "999 kB", 1_250_000: "1.2 MB", 12_540_000: "12.5 MB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
