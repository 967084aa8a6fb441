package index

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claudemem/internal/memory"
)

// TestFollowsAnything does anything to the feed and the index, and compares both.
func TestFollowsAnything(t *testing.T) {
	vocabulary := strings.Fields("cart total rounds getUserByEmail session cookie user_service.go 漢字仮名 the of retries queue v1.2.3 running")
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 8).Draw(t, "words"), " ")
	})
	document := rapid.Custom(func(t *rapid.T) memory.Document {
		kind := rapid.SampledFrom(memory.RecordKinds()).Draw(t, "kind")
		d := memory.Document{
			RecordRef:   ref(kind, rapid.Int64Range(1, 12).Draw(t, "id")),
			ProjectPath: rapid.SampledFrom([]string{"/a", "/b", ""}).Draw(t, "project"),
			Session:     memory.SessionID(rapid.IntRange(1, 2).Draw(t, "session")),
			Text:        text.Draw(t, "text"),
			CreatedAt:   memory.Millis(rapid.Int64Range(0, 1000).Draw(t, "created")),
		}
		if kind != memory.RecordPrompt {
			d.Title = text.Draw(t, "title")
		}
		if kind == memory.RecordObservation {
			d.Type = rapid.SampledFrom([]memory.ObservationType{"bugfix", "feature", "own type!"}).Draw(t, "type")
			d.Facts = rapid.SliceOfN(text, 0, 2).Draw(t, "facts")
			d.Files = rapid.SliceOfN(rapid.SampledFrom([]string{"src/auth.ts", "src/lib/auth/utils.ts", "README.md"}), 0, 2).Draw(t, "files")
		}
		return d
	})
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		feed := newMemoryFeed()
		path := filepath.Join(dir, "index.db")
		open := func() *Index {
			ix, err := Open(t.Context(), path, feed, Options{MayRepair: func(file, reason string) bool {
				if file == databaseFile {
					rt.Errorf("%s is to be repaired: %s", file, reason)
				}
				return true
			}})
			if err != nil {
				rt.Fatal(err)
			}
			return ix
		}
		ix := open()
		defer func() { _ = ix.Close() }()
		check := func() {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if err := ix.CatchUp(ctx); err != nil {
				rt.Fatal(err)
			}
			checkContents(rt, ix, feed)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"put", "put", "put", "delete", "delete", "check", "close", "crash", "prune", "lose vectors", "lose index", "reindex"}).Draw(rt, "step") {
			case "put":
				feed.put(rapid.SliceOfN(document, 1, 8).Draw(rt, "documents")...)
			case "delete":
				feed.delete(ref(rapid.SampledFrom(memory.RecordKinds()).Draw(rt, "kind"), rapid.Int64Range(1, 12).Draw(rt, "id")))
			case "check":
				check()
			case "close":
				if err := ix.Close(); err != nil {
					rt.Fatal(err)
				}
				ix = open()
			case "crash":
				next, err := os.MkdirTemp(dir, "")
				if err != nil {
					rt.Fatal(err)
				}
				path = crash(rt, ix, next)
				ix = open()
			case "prune":
				// What is missed while the index is closed shows as a gap.
				if err := ix.Close(); err != nil {
					rt.Fatal(err)
				}
				feed.put(rapid.SliceOfN(document, 1, 4).Draw(rt, "documents")...)
				feed.delete(ref(memory.RecordPrompt, rapid.Int64Range(1, 12).Draw(rt, "id")))
				feed.prune(1)
				ix = open()
			case "lose vectors", "lose index":
				if err := ix.Close(); err != nil {
					rt.Fatal(err)
				}
				lost := path
				if rapid.Bool().Draw(rt, "vectors") {
					lost = vectorPath(path)
				}
				if err := os.Remove(lost); err != nil {
					rt.Fatal(err)
				}
				ix = open()
			case "reindex":
				if err := ix.Reindex(t.Context(), nil); err != nil {
					rt.Fatal(err)
				}
			}
		}
		check()
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.new*")); len(left) > 0 {
			rt.Errorf("left behind: %v", left)
		}
	})
}
