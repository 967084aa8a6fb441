package api

import (
	"testing"
	"time"

	"claudemem/internal/memory"
)

func at(year int, month time.Month, day, hour, minute, second, ms int) memory.Millis {
	return memory.MillisOf(time.Date(year, month, day, hour, minute, second, ms*1e6, time.UTC))
}

func TestParseTime(t *testing.T) {
	tests := []struct {
		text       string
		start, end memory.Millis // 0: refused
	}{
		{"2026-03-04", at(2026, 3, 4, 0, 0, 0, 0), at(2026, 3, 4, 23, 59, 59, 999)},
		{"2024-02", at(2024, 2, 1, 0, 0, 0, 0), at(2024, 2, 29, 23, 59, 59, 999)},
		{"2026-12-31", at(2026, 12, 31, 0, 0, 0, 0), at(2026, 12, 31, 23, 59, 59, 999)},
		{"2026-03-04T12:30:15Z", at(2026, 3, 4, 12, 30, 15, 0), at(2026, 3, 4, 12, 30, 15, 0)},
		{"2026-03-04T12:30:15.250Z", at(2026, 3, 4, 12, 30, 15, 250), at(2026, 3, 4, 12, 30, 15, 250)},
		{"2026-03-04T12:30:15+02:00", at(2026, 3, 4, 10, 30, 15, 0), at(2026, 3, 4, 10, 30, 15, 0)},
		{"2026-03-04T12:30:15 02:00", at(2026, 3, 4, 10, 30, 15, 0), at(2026, 3, 4, 10, 30, 15, 0)}, // a + that was not encoded
		{"2026-03-04 12:30:15", at(2026, 3, 4, 12, 30, 15, 0), at(2026, 3, 4, 12, 30, 15, 0)},
		{"2026-03-04t12:30z", at(2026, 3, 4, 12, 30, 0, 0), at(2026, 3, 4, 12, 30, 59, 999)},
		{"2026-03-04T12:30", at(2026, 3, 4, 12, 30, 0, 0), at(2026, 3, 4, 12, 30, 59, 999)},
		{" 1772625600000 ", 1772625600000, 1772625600000},
		{"1772625600", 1772625600000, 1772625600000},
		{"100000000000", 100000000000, 100000000000},
		{"", 0, 0}, {"0", 0, 0}, {"-5", 0, 0}, {"tomorrow", 0, 0}, {"2026-13-01", 0, 0}, {"2026-02-30", 0, 0}, {"99999999999999999999", 0, 0},
		{"9223372036854775807", 0, 0}, {"-9223372036854775808", 0, 0}, {"1e12", 0, 0}, {"2026-03-04T25:00", 0, 0}, {"0001-01-01", 0, 0}, {"2026-03-04\x00", 0, 0}, {"4.3.2026", 0, 0},
	}
	for _, tt := range tests {
		start, ok := parseTime(tt.text, false)
		if !ok {
			start = 0
		}
		end, ok := parseTime(tt.text, true)
		if !ok {
			end = 0
		}
		if start != tt.start || end != tt.end {
			t.Errorf("parseTime(%q) = %d, %d, want %d, %d", tt.text, start, end, tt.start, tt.end)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2026-03-04", "2026-03-04T12:30:15+02:00", "1772625600000", "x", "2026-03-04 1 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start, ok := parseTime(text, false)
		end, okEnd := parseTime(text, true)
		if ok != okEnd || ok && (start <= 0 || end < start || end > memory.LatestTime+1) {
			t.Errorf("parseTime(%q) = %d %v, %d %v", text, start, ok, end, okEnd)
		}
	})
}
