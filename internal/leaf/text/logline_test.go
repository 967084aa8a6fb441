package text

import (
	"testing"
	"time"
)

func TestParseLogLine(t *testing.T) {
	l, ok := ParseLogLine([]byte(`{"time":"2026-03-04T12:00:00.5Z","level":"WARN","msg":"no TCP port","port":37777,"error":"in use"}`))
	want := LogLine{At: time.Date(2026, 3, 4, 12, 0, 0, 5e8, time.UTC), Level: "WARN", Message: "no TCP port", Fields: "error=in use port=37777"}
	if !ok || l != want {
		t.Errorf("got %+v, %v", l, ok)
	}
	if l, ok := ParseLogLine([]byte(`{"time":"yesterday","level":3}`)); !ok || l != (LogLine{}) {
		t.Errorf("without a message: %+v, %v", l, ok)
	}
	for _, other := range []string{"", "panic: x", `{"time":`, "[1]"} {
		if l, ok := ParseLogLine([]byte(other)); ok {
			t.Errorf("%q is %+v", other, l)
		}
	}
}
