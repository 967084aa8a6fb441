package observer_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"claudemem/internal/distil/observer"
	"claudemem/internal/memory"
)

// TestRecordedAnswers sends answers as models of all sorts write them through parser,
// observer and store. Each file of testdata/answers begins with what is expected: the calls
// of the model, the records (a summary that the rules made is "offline"; files where they are not
// the edited one alone), what was left out, the events that no model has read with the reason,
// and those that wait for the provider. Nothing that is not expected may be stored, and no event
// may be lost. The answers of files called stopped- have reached their limit of tokens.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, text, ok := strings.Cut(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n---\n")
			if !ok {
				t.Fatal("no line ---")
			}
			synctest.Test(t, func(t *testing.T) {
				if got := played(t, text, strings.Contains(file, "stopped-")); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

var leftOut = regexp.MustCompile(`msg="leave out ([^"]*)" number=(\d+)`)

// played returns what became of a turn whose model gives the same answer to each call.
func played(t *testing.T, text string, stopped bool) string {
	p := &scripted{name: "p", do: func(int, memory.ModelRequest) (memory.ModelAnswer, error) {
		return memory.ModelAnswer{Text: text, Model: "m", Cut: stopped}, nil
	}}
	var log bytes.Buffer
	logged := func(o *observer.ModelOptions) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }
	r := startRig(t, chooseAlways(t, p, false), logged, observer.Options{BatchingEnabled: true})
	r.together(func() {
		session := "a"
		r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindPrompt, HostSessionID: session, Prompt: "Uploads over 8 MB fail with 413. Find out why and fix it."}})
		r.edit(session, "deploy/nginx.conf", 100)
		r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindStop, HostSessionID: session,
			LastAssistantMessage: "nginx refused them, because `client_max_body_size` was not set in `deploy/nginx.conf`. It is 64 MB now. Next: deploy it."}})
	})
	r.idle()
	lines := []string{fmt.Sprintf("calls: %d", len(p.all()))}
	for _, o := range r.observations() {
		if o.Origin == memory.OriginObserver {
			lines = append(lines, fmt.Sprintf("observation: %s: %s", o.Type, o.Title))
			if files := o.FilesIn(memory.FileModified); !slices.Equal(files, []string{"deploy/nginx.conf"}) && len(files) > 0 || len(o.Supersedes) > 0 {
				lines = append(lines, fmt.Sprintf("  files %v, supersedes %v", files, o.Supersedes))
			}
		}
	}
	summaries, err := r.store.SessionSummaries(context.Background(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range summaries {
		line := "summary: " + s.Completed
		if s.Origin == memory.OriginOffline {
			line = "summary: offline"
		}
		lines = append(lines, line)
	}
	learnings, err := r.store.Learnings(context.Background(), memory.LearningQuery{Project: "/home/dev/shop"})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range learnings {
		lines = append(lines, "learning: "+l.Content)
	}
	for _, m := range leftOut.FindAllStringSubmatch(log.String(), -1) {
		lines = append(lines, "left out: "+m[1]+": "+m[2])
	}
	var unread []string
	for reason, n := range r.unread() {
		unread = append(unread, fmt.Sprintf("unread: %s %d", reason, n))
	}
	slices.Sort(unread)
	lines = append(lines, unread...)
	books := r.books()
	if waits := books.Pending + books.Processing; waits > 0 {
		lines = append(lines, fmt.Sprintf("waits: %d", waits))
	}
	if !books.Balanced() || books.Failed > 0 {
		t.Errorf("books: %+v", books)
	}
	return strings.Join(lines, "\n")
}
