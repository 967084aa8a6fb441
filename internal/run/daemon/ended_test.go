package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// TestClosingMessageAfterTheEnd: a closing message that arrives after the session's end still
// becomes part of its turn's record. Its hook was slow, or was killed before it could rename its
// spool file.
func TestClosingMessageAfterTheEnd(t *testing.T) {
	for name, deliver := range map[string]func(t *testing.T, dir string, stop memory.Event){
		"delivered": func(t *testing.T, dir string, stop memory.Event) {
			time.Sleep(500 * time.Millisecond)
			if err := post(t.Context(), peerOf(t, dir), stop); err != nil {
				t.Error(err)
			}
		},
		"spooled": func(t *testing.T, dir string, stop memory.Event) {
			time.Sleep(500 * time.Millisecond)
			if err := wire.SpoolOf(dir).WriteEvent(stop.DeliveryID, wire.EncodeEvent(&stop)); err != nil {
				t.Error(err)
			}
		},
		"left by a dead hook": func(t *testing.T, dir string, stop memory.Event) {
			spool := wire.SpoolOf(t.TempDir())
			if err := spool.WriteEvent(stop.DeliveryID, wire.EncodeEvent(&stop)); err != nil {
				t.Fatal(err)
			}
			name := spoolNames(t, spool)[0]
			if err := os.MkdirAll(wire.SpoolOf(dir).Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(spool.Dir, name), filepath.Join(wire.SpoolOf(dir).Dir, name+".tmp")); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := open(t, config(dir))
			prompt, tool, stop := event("s", memory.KindPrompt), event("s", memory.KindTool), event("s", memory.KindStop)
			stop.PromptID, tool.PromptID = prompt.PromptID, prompt.PromptID
			stop.LastAssistantMessage = "The cause was that the cache was read before its lock was taken."
			for _, e := range []memory.Event{prompt, tool, event("s", memory.KindSessionEnd)} {
				if err := post(t.Context(), peerOf(t, dir), e); err != nil {
					t.Fatal(err)
				}
			}
			deliver(t, dir, stop)
			if !eventually(func() bool { return booksOf(t, w).Processed == 4 }) {
				t.Fatalf("books %+v, want all processed", booksOf(t, w))
			}
			observations, err := w.store.Observations(t.Context(), memory.Query{})
			if err != nil {
				t.Fatal(err)
			}
			if len(observations) != 1 || !strings.Contains(fmt.Sprint(observations[0]), "before its lock was taken") {
				t.Errorf("observations %+v, want one that tells the cause", observations)
			}
		})
	}
}
