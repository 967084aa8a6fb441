package hook

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
)

// FuzzHook: whatever comes in, standard output is empty or one JSON object, and
// what lies in the spool is an event that the worker can read.
func FuzzHook(f *testing.F) {
	const claude, raw = uint8(0), uint8(len(adapters) - 1) // by their places in the table
	for _, payload := range fixtures(f) {
		f.Add([]byte(payload), claude)
	}
	for i, a := range adapters {
		paths, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", string(a.host)+"-hooks", "*.json"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			payload, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(payload, uint8(i))
		}
	}
	for _, seed := range []string{
		"", "\x00", "null", "{}", "[]", `"`, "\xef\xbb\xbf{}", "{\"hook_event_name\":\"Stop\",\"session_id\":\"\x00\"}",
		`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"X","tool_input":{"a":"\ud800"}}`,
		`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"X","tool_response":"` + "\xff\xfe" + `"}`,
		`{"hook_event_name":["Stop"],"session_id":{},"prompt":1}`,
		`{"event":"prompt","sessionId":"s","prompt":"\u0000<private>\ud83d"}`,
	} {
		f.Add([]byte(seed), raw)
		f.Add([]byte(seed), claude)
	}
	// Mutating twenty megabytes finds nothing and takes all the time there is: the
	// large ones only run as cases.
	if mode := flag.Lookup("test.fuzz"); mode == nil || mode.Value.String() == "" {
		f.Add([]byte(`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_response":{"stdout":"`+strings.Repeat("y ", 10<<20)+`"}}`), claude)
		f.Add([]byte(`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"`+strings.Repeat("z", 20<<20)+`"}`), raw)
	}
	f.Fuzz(func(t *testing.T, input []byte, host uint8) {
		dir := t.TempDir()
		for _, start := range []string{"SessionStart", "session_start", "sessionStart", "session.created"} {
			if strings.Contains(string(input), start) {
				return // waits for a worker; context has its own tests
			}
		}
		var out bytes.Buffer
		Run(Options{
			Host:        adapters[int(host)%len(adapters)].host,
			Stdin:       bytes.NewReader(input),
			Stdout:      &out,
			Getenv:      func(string) string { return "" },
			Now:         func() time.Time { return fixedNow },
			DataDir:     dir,
			slack:       -time.Second,
			StartWorker: func(string) error { return nil },
			Fallback:    noBlock,
		})
		if out.Len() > 0 && !json.Valid(out.Bytes()) {
			t.Errorf("stdout %q", out.String())
		}
		if log, err := os.ReadFile(filepath.Join(dir, "logs", "hook.log")); err == nil && strings.Contains(string(log), "panic") {
			t.Errorf("%s", log)
		}
		spool := wire.SpoolOf(dir)
		names, err := spool.List(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			entry, err := spool.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := entry.Event.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}
