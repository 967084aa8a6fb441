package cli

import (
	"testing"
	"time"

	"claudemem/internal/memory"
)

func TestParseTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	now := time.Date(2026, 11, 20, 14, 30, 0, 0, berlin)
	at := func(y int, m time.Month, d, h, minute int) time.Time {
		return time.Date(y, m, d, h, minute, 0, 0, berlin)
	}
	tests := []struct {
		text  string
		begin time.Time
		end   time.Time // of what it names as a whole; zero: it names a moment
	}{
		{"2026-03-01", at(2026, 3, 1, 0, 0), at(2026, 3, 2, 0, 0)},
		{"2026-10-25", at(2026, 10, 25, 0, 0), at(2026, 10, 26, 0, 0)}, // a day of 25 hours
		{"2026-02", at(2026, 2, 1, 0, 0), at(2026, 3, 1, 0, 0)},
		{"2025", at(2025, 1, 1, 0, 0), at(2026, 1, 1, 0, 0)},
		{"today", at(2026, 11, 20, 0, 0), at(2026, 11, 21, 0, 0)},
		{" Yesterday ", at(2026, 11, 19, 0, 0), at(2026, 11, 20, 0, 0)},
		{"now", now, time.Time{}},
		{"2026-03-01T15:04", at(2026, 3, 1, 15, 4), at(2026, 3, 1, 15, 5)},
		{"2026-03-01 15:04", at(2026, 3, 1, 15, 4), at(2026, 3, 1, 15, 5)},
		{"2026-03-01T15:04:00Z", time.Date(2026, 3, 1, 15, 4, 0, 0, time.UTC), time.Time{}},
		{"1772625600", time.Unix(1772625600, 0), time.Time{}},
		{"90m", at(2026, 11, 20, 13, 0), time.Time{}},
		{"12h", at(2026, 11, 20, 2, 30), time.Time{}},
		{"3d", at(2026, 11, 17, 14, 30), time.Time{}},
		{"2w", at(2026, 11, 6, 14, 30), time.Time{}},
	}
	for _, tt := range tests {
		got, err := ParseTime(tt.text, now, false)
		if want := memory.MillisOf(tt.begin); err != nil || got != want {
			t.Errorf("parseTime(%q) = %v, %v, want %v", tt.text, got.Time(), err, want.Time())
		}
		want := memory.MillisOf(tt.begin)
		if !tt.end.IsZero() {
			want = memory.MillisOf(tt.end) - 1
		}
		if got, err = ParseTime(tt.text, now, true); err != nil || got != want {
			t.Errorf("parseTime(%q, last) = %v, %v, want %v", tt.text, got.Time(), err, want.Time())
		}
	}
	for _, text := range []string{"", "d", "-3d", "3x", "soon", "2026-13-01", "2026-02-30", "99999999999d", "\x00", "3 d"} {
		if got, err := ParseTime(text, now, false); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("parseTime(%q) = %v, %v, want an error with code invalid", text, got, err)
		}
	}
}
