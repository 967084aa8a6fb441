package cli

import (
	"testing"

	"claudemem/internal/memory"
)

func TestParseID(t *testing.T) {
	tests := []struct {
		text string
		want RecordID
		bad  bool
	}{
		{text: "12", want: RecordID{Number: 12}},
		{text: "#12", want: RecordID{Number: 12}},
		{text: "S3", want: RecordID{Session: true, Number: 3}},
		{text: "s3", want: RecordID{Session: true, Number: 3}},
		{text: "0", bad: true},
		{text: "-4", bad: true},
		{text: "S", bad: true},
		{text: "#S3", bad: true},
		{text: "twelve", bad: true},
		{text: "99999999999999999999", bad: true},
	}
	for _, tt := range tests {
		got, err := ParseID(tt.text)
		if tt.bad {
			if memory.CodeOf(err) != memory.CodeInvalid {
				t.Errorf("parseID(%q): %v, want CodeInvalid", tt.text, err)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("parseID(%q) = %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
}
