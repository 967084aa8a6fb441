package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// fieldsOf collects the names of all fields of a JSON form.
func fieldsOf(t *testing.T, v any) []string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var form any
	if err := json.Unmarshal(raw, &form); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var collect func(any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, field := range v {
				names[name] = true
				collect(field)
			}
		case []any:
			for _, item := range v {
				collect(item)
			}
		}
	}
	collect(form)
	return slices.Sorted(maps.Keys(names))
}

// helpOfJSON returns what a command prints with --json --help.
func helpOfJSON(t *testing.T, command string) string {
	t.Helper()
	a, out, _ := testApp(t, nil)
	if code := a.execute(t.Context(), append(strings.Fields(command)[1:], "--json", "--help")); code != 0 {
		t.Fatalf("%s --json --help: exit %d", command, code)
	}
	return out.String()
}

// The help of a command's JSON names every field that it prints, and the
// fields that programs rely on are there.
func TestJSONFormsAreInTheHelp(t *testing.T) {
	kinds := []accounts.EventsOf{{Tool: "x"}}
	reasons := []accounts.EventsFor{{Kinds: kinds}}
	layers := []memory.LayerCost{{Items: 1, Reason: "x"}}
	line := api.PreviewLine{ContextLine: memory.ContextLine{Observation: 1, Session: 1, Learning: 1}}
	spent := accounts.Spent{USD: 1}
	receipt := accounts.SessionReceipt{
		CompletedAt: 1, Captured: accounts.CapturedEvents{Kinds: kinds}, Skipped: reasons, Failed: reasons, Redacted: []accounts.RedactedRule{{}},
		Stored:   accounts.StoredRecords{Observations: []accounts.StoredObservation{{}}, Summaries: []accounts.StoredSummary{{}}},
		Given:    []memory.Injection{{ProjectPath: "x", Source: "x", Observations: []memory.ObservationID{1}, Sessions: []memory.SessionID{1}, Layers: layers, Skipped: layers}},
		LookedUp: []accounts.LookedUp{{}},
		Cost: accounts.SessionCost{Total: spent, Providers: []accounts.SpentOn{{Spent: spent}},
			Models: []accounts.SpentOn{{Provider: "x", Spent: spent}}},
	}
	totals := accounts.ReceiptTotals{Captured: accounts.CapturedEvents{Kinds: kinds}, Skipped: reasons, Redacted: []accounts.RedactedRule{{}}, Given: []accounts.GivenIn{{}}}
	for _, tt := range []struct {
		command string
		form    any
		has     []string
	}{
		{"context --preview", contextPreview{Session: "S1", Preview: api.Preview{Layers: layers, Skipped: layers, Lines: []api.PreviewLine{line}}},
			[]string{"context", "tokens", "layers", "skipped", "budget", "effective_budget", "build_ms", "lines", "number", "why"}},
		{"sessions show", receipt,
			[]string{"captured", "skipped", "failed", "stored", "redacted", "given", "looked_up", "cost", "tokens_given", "discovery_tokens", "cost_usd"}},
		{"stats", map[string]any{"receipts": totals},
			[]string{"receipts", "given", "observations_given", "observations_looked_up", "skipped"}},
	} {
		fields := fieldsOf(t, tt.form)
		help := helpOfJSON(t, "claude-mem "+strings.TrimSuffix(tt.command, " --preview"))
		for _, name := range fields {
			if !regexp.MustCompile("\\| `(?:[a-z_.]+\\.)?" + name + `\??` + "` \\|").MatchString(help) {
				t.Errorf("%s --json has %q, its help has not", tt.command, name)
			}
		}
		for _, name := range tt.has {
			if !slices.Contains(fields, name) {
				t.Errorf("%s --json has no %q", tt.command, name)
			}
		}
	}
}

// Which calls of `context` are a person's and which the host's, whose time is short.
func TestPreviewing(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "--host claude-code": false, "--from-database --session-id s --project /p --source startup": false, "--previews": false,
		"--preview": true, "--budget 5 --preview": true, "--preview=true": true, "--why 3": true, "--why=3": true,
	} {
		if got := previewing(strings.Fields(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// What a receipt shows is somebody's text: it steers no terminal and stays on its line.
func TestReceiptIsSafeForATerminal(t *testing.T) {
	evil := "a\x1b[31mb\nc\x07"
	a, out, _ := testApp(t, nil)
	a.People().Receipt(&accounts.SessionReceipt{
		Title: evil, Project: evil, HostSessionID: evil,
		Captured: accounts.CapturedEvents{Events: 1, Kinds: []accounts.EventsOf{{Kind: memory.KindTool, Tool: evil, Events: 1}}},
		Skipped:  []accounts.EventsFor{{Reason: evil, Events: 1}}, Failed: []accounts.EventsFor{{Reason: evil, Events: 1}},
		Redacted: []accounts.RedactedRule{{Rule: evil, Count: 1}},
		Given:    []memory.Injection{{Where: "SessionStart", Source: evil, Layers: []memory.LayerCost{{Name: evil}}}, {Where: "PostToolUse", Source: evil}},
		LookedUp: []accounts.LookedUp{{Observation: 1, Title: evil}},
		Cost:     accounts.SessionCost{Models: []accounts.SpentOn{{Name: evil, Provider: evil}}},
	})
	if text := out.String(); strings.ContainsAny(text, "\x1b\x07") || strings.Contains(text, "\nc") {
		t.Errorf("got %q", text)
	}
}
