package exchange_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"

	"github.com/google/go-cmp/cmp"
)

const header = `{"claude_mem_export":1,"schema":5,"memory":"00000000000000aa","program":"0.1.0","exported_at":"2026-03-01T15:04:05Z","records":2}` + "\n"

// prompt is a line with a prompt.
const prompt = `{"prompt":{"ulid":"01KAC6T0V5V3YQ2M8Z9E4XW7RD","session":"01KAC6T0V5V3YQ2M8Z9E4XW7RC","number":1,"text":"a <b> & c","created_at":5}}` + "\n"

// read returns the records of a file, the faults of its lines, and how it ended.
func read(t *testing.T, file string) (records []memory.Portable, faults []string, end error) {
	t.Helper()
	r, h, err := exchange.NewReader(strings.NewReader(file))
	if err != nil {
		return nil, nil, err
	}
	if h.Schema != 5 || h.Memory != "00000000000000aa" {
		t.Errorf("the header is %+v", h)
	}
	for {
		p, line, err := r.Next()
		var fault *exchange.LineError
		switch {
		case errors.As(err, &fault):
			if fault.Line != line || memory.CodeOf(err) != memory.CodeInvalid {
				t.Errorf("line %d: %v", line, err)
			}
			faults = append(faults, err.Error())
		case err != nil:
			return records, faults, err
		default:
			records = append(records, p)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	file := header + prompt + `{"tombstone":{"kind":"record","key":"01KAC6T0V5V3YQ2M8Z9E4XW7RD","created_at":7}}` + "\n" + `{"end":{"records":2}}` + "\n"
	records, faults, err := read(t, file)
	if len(records) != 2 || len(faults) != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("%d records, %q, %v", len(records), faults, err)
	}
	var out bytes.Buffer
	w, err := exchange.NewWriter(&out, exchange.Header{Schema: 5, Memory: "00000000000000aa", Program: "0.1.0", ExportedAt: "2026-03-01T15:04:05Z", Records: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file, out.String()); diff != "" {
		t.Errorf("written again (-want +got):\n%s", diff)
	}
}

// TestBadLines: each line that holds no record is told with its number, and the others are
// read. No message has text of the line.
func TestBadLines(t *testing.T) {
	for name, tt := range map[string]struct{ line, want string }{
		"no JSON":         {"hello", "it is no JSON"},
		"half a line":     {prompt[:70], "it is no JSON"},
		"a wrong type":    {`{"prompt":{"number":"secret"}}`, "prompt.number is not of its type"},
		"a list":          {`[1]`, "the line is not of its type"},
		"deep":            {strings.Repeat(`{"a":[`, 20_000), "it is no JSON"},
		"no record":       {`{"secret":1}`, "it is not one record"},
		"two records":     {`{"prompt":{},"summary":{}}`, "it is not one record"},
		"a second header": {strings.TrimSpace(header), "it is not one record"},
		"too long":        {`{"prompt":{"text":"` + strings.Repeat("x", exchange.MaxLine) + `"}}`, "the line has more than 2 MB"},
		"binary":          {"\x00\x1b[2J\xff", "it is no JSON"},
	} {
		records, faults, end := read(t, header+prompt+tt.line+"\r\n\n"+prompt+`{"end":{"records":3}}`)
		if len(records) != 2 || !errors.Is(end, io.EOF) {
			t.Errorf("%s: %d records, %v", name, len(records), end)
		}
		if len(faults) != 1 || !strings.HasPrefix(faults[0], "line 3: "+tt.want) || strings.Contains(faults[0], "secret") {
			t.Errorf("%s: got %q, want %q", name, faults, tt.want)
		}
	}
}

func TestTruncated(t *testing.T) {
	for name, tt := range map[string]struct {
		file    string
		records int
	}{
		"no end":        {header + prompt, 1},
		"half a record": {header + prompt + prompt[:40], 1},
		"header alone":  {header, 0},
		"lines missing": {header + prompt + `{"end":{"records":2}}`, 1},
	} {
		records, _, end := read(t, tt.file)
		if len(records) != tt.records || !errors.Is(end, exchange.ErrTruncated) {
			t.Errorf("%s: %d records, %v", name, len(records), end)
		}
	}
}

func TestBehindTheEnd(t *testing.T) {
	records, faults, end := read(t, header+prompt+`{"end":{"records":1}}`+"\n"+prompt)
	if len(records) != 1 || len(faults) != 1 || !errors.Is(end, io.EOF) {
		t.Errorf("%d records, %q, %v", len(records), faults, end)
	}
}

func TestOtherFormats(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"nothing":                 {"", "not a claude-mem export"},
		"JSON":                    {`{"a":1}`, "not a claude-mem export"},
		"text":                    {"hello\nworld", "not a claude-mem export"},
		"a list":                  {"[]", "not a claude-mem export"},
		"sqlite":                  {"SQLite format 3\x00" + strings.Repeat("\x00", 100), "not a claude-mem export"},
		"endless":                 {strings.Repeat("x", 3*exchange.MaxLine), "not a claude-mem export"},
		"gzip":                    {"\x1f\x8b\x08\x00\x00\nrest", "compressed"},
		"newer":                   {`{"claude_mem_export":2}`, "format 2"},
		"newer, with other types": {`{"claude_mem_export":2,"schema":"7b"}`, "format 2"},
		"newer, behind a mark":    {"\ufeff" + `{"claude_mem_export":2}`, "format 2"},
		"a string":                {`{"claude_mem_export":"1"}`, "not a claude-mem export"},
	} {
		_, _, err := exchange.NewReader(strings.NewReader(tt.file))
		if memory.CodeOf(err) != memory.CodeInvalid || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// FuzzReader: no file makes the reader panic or read for ever, and what it reads is one
// record.
func FuzzReader(f *testing.F) {
	f.Add([]byte(header + prompt + `{"end":{"records":1}}`))
	f.Add([]byte(header + "\x00\n{\n" + prompt))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, _, err := exchange.NewReader(bytes.NewReader(file))
		if err != nil {
			return
		}
		for range bytes.Count(file, []byte("\n")) + 2 {
			p, _, err := r.Next()
			var fault *exchange.LineError
			if err != nil && !errors.As(err, &fault) {
				return
			}
			if err == nil && p.Kind() == "" {
				t.Errorf("read %+v", p)
			}
			_ = p.Check()
		}
		t.Error("it does not end")
	})
}
