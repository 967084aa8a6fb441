package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/serve/mcpserver"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files; read them before committing")

// TestConversations sends the lines of a client (the file "client") and compares the
// server's answers ("server"). Each line is sent after the answer to the last one. A tool's
// answer is written as the agent reads it, with its structured content below.
func TestConversations(t *testing.T) {
	paths, err := filepath.Glob("testdata/conversations/*.txtar")
	must(t, err)
	if len(paths) == 0 {
		t.Fatal("no conversations")
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			must(t, err)
			client := archive.Files[0]
			if client.Name != "client" {
				t.Fatalf("the first file is %s, want client", client.Name)
			}
			got := converse(t, newMemory(t), client.Data)
			if *update {
				archive.Files = []txtar.File{client, {Name: "server", Data: got}}
				must(t, os.WriteFile(path, txtar.Format(archive), 0o600))
				return
			}
			if len(archive.Files) != 2 {
				t.Fatal("no answers: run with -update and read them")
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// converse sends the client's lines, each after the answer to the last one.
func converse(t *testing.T, m *fakeMemory, client []byte) []byte {
	t.Helper()
	c := connect(t, m.server(mcpserver.Options{}))
	var said bytes.Buffer
	for line := range strings.Lines(string(client)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		c.say(line)
		var message struct {
			ID     any
			Method string
		}
		if json.Unmarshal([]byte(line), &message) == nil && (message.ID == nil || message.Method == "") {
			continue // a notification or an answer: nothing comes back
		}
		said.WriteString(prose(t, c.hear()))
		must(t, m.index.CatchUp(t.Context()))
	}
	return said.Bytes()
}

// prose returns an answer as readable text.
func prose(t *testing.T, line string) string {
	t.Helper()
	var answer struct {
		ID     json.RawMessage `json:"id"`
		Result result          `json:"result"`
	}
	must(t, json.Unmarshal([]byte(line), &answer))
	if answer.Result.text() == "" {
		return line + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", answer.ID)
	if answer.Result.IsError {
		b.WriteString(" (an error)")
	}
	for text := range strings.Lines(answer.Result.text()) {
		b.WriteString("\n  | " + strings.TrimRight(text, "\n"))
	}
	if answer.Result.StructuredContent != nil {
		fmt.Fprintf(&b, "\n  structured: %s", answer.Result.StructuredContent)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n") + "\n"
}
