//go:build unix

package observer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"
)

// TestKeywords: a record in the user's language has English words, so that who asks in English finds
// it, by a search and beside a prompt. The words are no line of their own there. Without them neither
// gives the record.
func TestKeywords(t *testing.T) {
	t.Parallel()
	const title = "Hochladen über 8 MB geht: nginx hatte es abgelehnt"
	keywords := ""
	api := world.NewStandIn(t, func(q *world.Asked) world.Reply {
		if !strings.Contains(q.Prompt, "Hochladen") {
			return world.Reply{Text: "<observations/>"}
		}
		return world.Reply{Text: fmt.Sprintf(`<observation><type>bugfix</type><title>%s</title><subtitle>client_max_body_size war nicht gesetzt</subtitle>%s</observation>`+
			`<summary><request>Hochladen geht nicht</request><completed>Es geht</completed></summary>`, title, keywords)}
	})
	for _, keywords = range []string{"", "<keywords>upload, limit, reverse proxy, request body size, large files, rejected, 413, one two three four five six seven eight</keywords>"} {
		m := world.NewMemory(t)
		m.Configure(api.With("anthropic"))
		m.MustCommand("worker", "start")
		h := &world.Host{M: m, ID: "german"}
		h.Prompt("Hochladen geht nicht, warum?")
		h.Edits(1)
		h.Stop()
		m.Settle(world.SettleLimit)
		if !strings.Contains(api.Calls()[0].System, "<keywords>up to 15 English words") {
			t.Error("English keywords are not asked for")
		}
		m.AwaitIndex()
		found := m.MustCommand("search", "reverse proxy rejected large files", "--all")
		next := &world.Host{M: m, ID: "english"}
		next.N++
		p := next.Payload("UserPromptSubmit")
		p["prompt"] = "Our reverse proxy rejected large files with 413 once, what was the upload limit problem?"
		given := next.Send("new", p).Stdout
		if keywords == "" {
			if bytes.Contains(found, []byte(title)) || bytes.Contains(given, []byte("Hochladen")) {
				t.Errorf("without keywords, a search finds:\n%s\nand beside a prompt is given %q", found, given)
			}
			continue
		}
		if !bytes.Contains(found, []byte(title)) {
			t.Errorf("a search in English finds:\n%s", found)
		}
		if !bytes.Contains(given, []byte("Hochladen")) {
			t.Errorf("beside a prompt in English is given %q", given)
		}
		if bytes.Contains(given, []byte("English:")) {
			t.Errorf("the keywords are a line: %q", given)
		}
		if shown := m.MustCommand("show", "1"); !bytes.Contains(shown, []byte("one two three four")) || bytes.Contains(shown, []byte("five")) {
			t.Errorf("not the first 15 words are kept:\n%s", shown)
		}
	}
}
