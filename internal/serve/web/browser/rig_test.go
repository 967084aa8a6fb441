package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	picture  = flag.String("picture", "", "file for the picture of README; none without it")
	pictures = flag.String("pictures", "", "folder for the pictures of the pages; none without it")
	axeFile  = flag.String("axe", "", "axe.min.js of axe-core; without it nothing is said of accessibility")
)

// binDir holds the binaries, built once.
var binDir string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	dir, err := os.MkdirTemp("", "claude-mem-viewer-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "viewer:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binDir = dir
	build := exec.Command("go", "build", "-trimpath", "-o", dir+string(filepath.Separator), "./cmd/claude-mem", "./cmd/claude-mem-hook")
	build.Dir = filepath.Join("..", "..", "..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "viewer: build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// patience is how long a test waits for what a page shall show, on the slowest machine.
const patience = 60 * time.Second

// rig is a memory with its worker.
type rig struct {
	t         testing.TB
	home, dir string
	env       []string
	port      int
}

// newRig returns a rig with the records of a memory; its worker runs.
func newRig(t testing.TB, m Memory) *rig {
	t.Helper()
	home := t.TempDir()
	r := &rig{t: t, home: home, dir: filepath.Join(home, "memory"), port: freePort(t)}
	r.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "TZ=UTC", "CLAUDE_MEM_DATA_DIR=" + r.dir}
	must(t, os.Mkdir(r.dir, 0o700))
	settings := fmt.Sprintf(`{"CLAUDE_MEM_WORKER_PORT":"%d","CLAUDE_MEM_PROVIDER":"offline","CLAUDE_MEM_EMBEDDER_TRAINING":"off","CLAUDE_MEM_ANTHROPIC_API_KEY":%q}`, r.port, secretKey)
	must(t, os.WriteFile(filepath.Join(r.dir, "config.json"), []byte(settings), 0o600))
	t.Cleanup(func() {
		if out, err := r.try("worker", "stop"); err != nil {
			t.Logf("stop the worker: %v %s", err, out)
		}
	})
	if m.Observations > 0 {
		path := filepath.Join(home, "memory.jsonl")
		f, err := os.Create(path)
		must(t, err)
		must(t, m.Write(f))
		must(t, f.Close())
		r.command("import", "--yes", path)
	}
	r.command("worker", "start")
	r.awaitIndex(m.Observations)
	return r
}

// awaitIndex waits until the index has at least so many records and will not change by itself:
// what is found after it is found in the same order again.
func (r *rig) awaitIndex(records int) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var stats struct {
			Index struct {
				State                      string
				Documents, Behind, Waiting int
				Building                   bool
			}
		}
		r.get("/api/stats", &stats)
		if ix := stats.Index; ix.State == "ok" && ix.Documents >= records && !ix.Building && ix.Behind+ix.Waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the index is not ready within %v: %+v", patience, stats.Index)
		}
	}
}

// secretKey is in the settings of every rig and must be on no page.
const secretKey = "sk-ant-api03-thisKeyIsNobodysButMustNotBeShown0123456789"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (r *rig) try(args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(binDir, "claude-mem"), args...)
	cmd.Env, cmd.Dir = r.env, r.home
	return cmd.CombinedOutput()
}

// command runs claude-mem and returns what it printed.
func (r *rig) command(args ...string) []byte {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("claude-mem %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r *rig) origin() string { return fmt.Sprintf("http://127.0.0.1:%d", r.port) }

// get asks the API and decodes its answer.
func (r *rig) get(path string, dest any) {
	r.t.Helper()
	resp, err := http.Get(r.origin() + path)
	must(r.t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		r.t.Fatalf("GET %s: %s", path, resp.Status)
	}
	must(r.t, json.NewDecoder(resp.Body).Decode(dest))
}

// tab is a browser's tab. It keeps what went wrong in it.
type tab struct {
	context.Context
	r    *rig
	mu   sync.Mutex
	sent []string // addresses of requests
	said []string // errors of scripts, of the policy and of loading
}

// browser starts a headless browser and returns its tab.
func (r *rig) browser() *tab {
	r.t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1280, 900), chromedp.Flag("force-prefers-reduced-motion", true))
	allocated, cancel := chromedp.NewExecAllocator(r.t.Context(), options...)
	r.t.Cleanup(cancel)
	ctx, cancelTab := chromedp.NewContext(allocated)
	r.t.Cleanup(cancelTab)
	b := &tab{Context: ctx, r: r}
	must(r.t, chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			b.sent = append(b.sent, e.Request.URL)
		case *runtime.EventExceptionThrown:
			b.said = append(b.said, "exception: "+e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.EntryLevelError && e.Entry.Source != cdplog.EntrySourceNetwork {
				b.said = append(b.said, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
			}
		case *network.EventResponseReceived:
			if e.Response.Status >= 400 {
				b.said = append(b.said, fmt.Sprintf("%s: status %d", e.Response.URL, e.Response.Status))
			}
		}
	}))
	// The browser lives as long as the context of its first call: that one has no limit.
	must(r.t, chromedp.Do(ctx, enable))
	return b
}

// enable lets the tab tell of requests, of scripts' errors and of what the policy refuses.
func enable(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
	if _, err = cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err == nil {
		if _, err = cdp.Call(ctx, t, runtime.Enable, cdp.Empty{}); err == nil {
			_, err = cdp.Call(ctx, t, cdplog.Enable, cdp.Empty{})
		}
	}
	return none, err
}

// do runs actions; it fails the test after patience.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.r.t.Helper()
	ctx, cancel := context.WithTimeout(b, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.r.t.Fatalf("%v\nthe page says:\n%.2000s", err, b.text())
	}
}

// text returns what the page shows.
func (b *tab) text() string {
	ctx, cancel := context.WithTimeout(b, patience)
	defer cancel()
	s, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`)) // for a message
	return s
}

// open lets the tab in as `claude-mem open` does, at a page.
func (b *tab) open(page string) {
	b.r.t.Helper()
	b.do(chromedp.Navigate(strings.TrimSpace(string(b.r.command("open", "--print", page)))))
	b.await(`document.readyState === "complete"`)
}

// visit goes to a page.
func (b *tab) visit(page string) {
	b.r.t.Helper()
	b.do(chromedp.Navigate(b.r.origin() + page))
	b.await(`document.readyState === "complete"`)
}

// await waits until a JavaScript expression is true.
func (b *tab) await(expression string) {
	b.r.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if value[bool](b, `Boolean(`+expression+`)`) {
			return
		}
		if time.Now().After(deadline) {
			b.r.t.Fatalf("not within %v: %s\nthe page says:\n%.2000s", patience, expression, b.text())
		}
	}
}

// value returns the value of a JavaScript expression.
func value[T any](b *tab, expression string) T {
	b.r.t.Helper()
	ctx, cancel := context.WithTimeout(b, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.r.t.Fatalf("%s: %v\nthe page says:\n%.2000s", expression, err, b.text())
	}
	return v
}

// clean fails the test if a request left the worker's origin, or a script or the policy
// complained; allowed are parts of complaints that the test expects.
func (b *tab) clean(allowed ...string) {
	b.r.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, address := range b.sent {
		if !strings.HasPrefix(address, b.r.origin()+"/") && !strings.HasPrefix(address, "data:") {
			b.r.t.Errorf("a page asked %s", address)
		}
	}
next:
	for _, s := range b.said {
		for _, part := range allowed {
			if strings.Contains(s, part) {
				continue next
			}
		}
		b.r.t.Errorf("a page said %s", s)
	}
}

// jsonOf returns v as JSON.
func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// remember stores an observation with a title and returns its number.
func (r *rig) remember(title string) int {
	r.t.Helper()
	token, err := os.ReadFile(filepath.Join(r.dir, "token"))
	must(r.t, err)
	req, err := http.NewRequest(http.MethodPost, r.origin()+"/api/observations", strings.NewReader(jsonOf(map[string]any{"title": title, "text": title + ".", "project": r.home})))
	must(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := http.DefaultClient.Do(req)
	must(r.t, err)
	defer resp.Body.Close()
	var answer struct{ ID int }
	must(r.t, json.NewDecoder(resp.Body).Decode(&answer))
	if answer.ID == 0 {
		r.t.Fatalf("store a record: %s", resp.Status)
	}
	return answer.ID
}
