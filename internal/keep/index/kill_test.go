package index

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// killEnv tells a child process, which is this test's binary, where to index and
// which step of the feed comes first.
const killEnv = "CLAUDEMEM_TEST_INDEX_UNTIL_KILLED"

func TestMain(m *testing.M) {
	if at := os.Getenv(killEnv); at != "" {
		path, step, _ := strings.Cut(at, "\n")
		first, _ := strconv.Atoi(step)
		indexUntilKilled(path, first)
	}
	os.Exit(m.Run())
}

// feedStep does step n to a feed: the same in every process.
func feedStep(feed *memoryFeed, n int) {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	vocabulary := strings.Fields("cart total rounds getUserByEmail session cookie user_service.go 漢字仮名 the of retries queue v1.2.3 running parser")
	text := func(words int) string {
		var b strings.Builder
		for range words {
			b.WriteString(vocabulary[r.IntN(len(vocabulary))] + " ")
		}
		return b.String()
	}
	for range 1 + r.IntN(40) {
		id := int64(1 + r.IntN(300))
		switch r.IntN(5) {
		case 0:
			feed.delete(ref(memory.RecordKinds()[r.IntN(3)], id))
		case 1:
			feed.put(prompt(id, memory.SessionID(id%7), text(12)))
		default:
			d := observation(id, text(5), text(40))
			d.Facts = []string{text(6), text(6)}
			feed.put(d)
		}
	}
}

func indexUntilKilled(path string, first int) {
	feed := newMemoryFeed()
	for n := range first {
		feedStep(feed, n)
	}
	ix, err := Open(context.Background(), path, feed, Options{})
	for n := first; err == nil; n++ {
		feedStep(feed, n)
		fmt.Println(n)
		if n%3 == 0 { // the others run together
			err = ix.CatchUp(context.Background())
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// TestKilled kills a process that indexes, again and again, and looks at what it
// has left.
func TestKilled(t *testing.T) {
	kills := 12
	if testing.Short() {
		kills = 3
	}
	path := filepath.Join(t.TempDir(), "index.db")
	r := rand.New(rand.NewPCG(1, 1))
	step := 1
	for range kills {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), killEnv+"="+path+"\n"+strconv.Itoa(step))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		until := 1 + r.IntN(25)
		for i := 0; i < until && lines.Scan(); i++ {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("the child ended: %s", lines.Text())
			}
			step = n + 1
		}
		// Not to wait for anything, but to hit any place of a batch.
		<-time.After(time.Duration(r.IntN(8000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				step = n + 1
			}
		}
		_ = cmd.Wait() // it was killed
		// The child may have begun another step that it did not tell of.
		step++
	}
	feed := newMemoryFeed()
	for n := range step {
		feedStep(feed, n)
	}
	ix := openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	checkContents(t, ix, feed)
}
