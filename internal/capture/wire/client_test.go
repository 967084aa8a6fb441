package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"claudemem/internal/memory"
)

func TestReadResponse(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	cases := map[string]struct {
		in   string
		want string // status wire body, or ErrResponse
	}{
		"length":           {"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\nClaude-Mem-Wire: 1\r\n\r\n{}ignored", "202 1 {}"},
		"other case":       {"HTTP/1.1 200 OK\r\ncontent-LENGTH:3\r\nCLAUDE-mem-wire:  7 \r\n\r\nabc", "200 7 abc"},
		"line feeds alone": {"HTTP/1.0 200 OK\nContent-Length: 1\n\nx", "200  x"},
		"no reason":        {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "200  "},
		"to the end":       {"HTTP/1.1 200 OK\r\n\r\nall of it", "200  all of it"},
		"chunks":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;ext=1\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", "200  abc0123456789"},
		"interim":          {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "204  "},
		"long":             {"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + long, "200  " + long},
		"length twice":     {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", "200  x"},

		"nothing":          {"", "ErrResponse"},
		"half a head":      {"HTTP/1.1 200 OK\r\nContent-", "ErrResponse"},
		"half a body":      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "ErrResponse"},
		"half a chunk":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "ErrResponse"},
		"chunk overrun":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", "ErrResponse"},
		"absurd chunk":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n", "ErrResponse"},
		"gzip":             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx", "ErrResponse"},
		"absurd length":    {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx", "ErrResponse"},
		"over the limit":   {"HTTP/1.1 200 OK\r\nContent-Length: 200001\r\n\r\n" + long + long + "x", "ErrResponse"},
		"endless":          {"HTTP/1.1 200 OK\r\n\r\n" + long + long + long, "ErrResponse"},
		"two lengths":      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", "ErrResponse"},
		"negative length":  {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx", "ErrResponse"},
		"not HTTP":         {"SSH-2.0-OpenSSH_9\r\n\r\n", "ErrResponse"},
		"HTTP/2":           {"HTTP/2 200 OK\r\n\r\n", "ErrResponse"},
		"status of text":   {"HTTP/1.1 abc OK\r\n\r\n", "ErrResponse"},
		"status too long":  {"HTTP/1.1 2000\r\n\r\n", "ErrResponse"},
		"no colon":         {"HTTP/1.1 200 OK\r\nheader\r\n\r\n", "ErrResponse"},
		"head too long":    {"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", 2*maxHead) + "\r\n\r\n", "ErrResponse"},
		"too many headers": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHead) + "\r\n", "ErrResponse"},
		"interim for ever": {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100), "ErrResponse"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
				resp, err := readResponse(r, 200_000)
				got := fmt.Sprintf("%d %s %s", resp.Status, resp.Wire, resp.Body)
				if errors.Is(err, ErrResponse) {
					got = "ErrResponse"
				} else if err != nil {
					t.Fatal(err)
				}
				if got != c.want {
					t.Errorf("%s: %.80q, want %.80q", how, got, c.want)
				}
			}
		})
	}
}

func TestReaderErrorsComeThrough(t *testing.T) {
	_, err := readResponse(io.MultiReader(strings.NewReader("HTTP/1.1 200 OK\r\n"), iotest.ErrReader(os.ErrDeadlineExceeded)), 1000)
	if !os.IsTimeout(err) {
		t.Errorf("got %v, want a time-out", err)
	}
}

// FuzzResponse: an answer never panics, never exceeds its limit, and reads the
// same however it arrives.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\nClaude-Mem-Wire: 1\r\n\r\n{}",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nrest", "HTTP/1.1 999", "\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1000
		a, errA := readResponse(strings.NewReader(string(data)), limit)
		b, errB := readResponse(iotest.OneByteReader(strings.NewReader(string(data))), limit)
		if (errA == nil) != (errB == nil) || errA == nil && (a.Status != b.Status || string(a.Body) != string(b.Body) || a.Wire != b.Wire) {
			t.Fatalf("at once %+v, %v; byte by byte %+v, %v", a, errA, b, errB)
		}
		if len(a.Body) > limit {
			t.Fatalf("%d bytes", len(a.Body))
		}
	})
}

func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cm") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// serve answers on the socket of a data directory with net/http, as the worker does.
func serve(t *testing.T, dir string, h http.HandlerFunc) Address {
	t.Helper()
	a := Find(dir, os.Getenv)
	listener, err := net.Listen("unix", a.Socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return a
}

func TestExchange(t *testing.T) {
	a := serve(t, socketDir(t), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set(Header, VersionText)
		w.Header().Set("Seen", "x")
		if r.URL.Query().Get("big") != "" {
			_, _ = io.WriteString(w, strings.Repeat("x", 300_000)) // chunked
			return
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, "%s %s %s %s %d", r.Method, r.RequestURI, r.Header.Get(Header), r.Header.Get("Content-Type"), len(body))
	})
	client := Client{Address: a, Deadline: time.Now().Add(time.Minute)}
	for _, n := range []int{0, 2400, largePiece, largePiece + 1, 5 << 20} {
		resp, err := client.Post(PathObservation, make([]byte, n))
		if want := fmt.Sprintf("POST %s 1 application/json %d", PathObservation, n); err != nil || resp.Status != 202 || string(resp.Body) != want {
			t.Errorf("%d bytes: %d %q, %v; want %q", n, resp.Status, resp.Body, err, want)
		}
	}
	if resp, err := client.Get("/x?y=1"); err != nil || string(resp.Body) != "GET /x?y=1 1  0" {
		t.Errorf("%q, %v", resp.Body, err)
	}
	if resp, err := client.Get("/x?big=1"); err != nil || len(resp.Body) != 300_000 {
		t.Errorf("%d bytes, %v", len(resp.Body), err)
	}
}

func TestExchangeWithOtherVersion(t *testing.T) {
	for name, c := range map[string]struct {
		wire   string
		status int
		body   string
		want   error
	}{
		"refused":         {"2", 409, "", ErrWireVersion},
		"refused by ours": {"1", 409, `{"error":{"code":"wire_version"}}`, ErrWireVersion},
		"other conflict":  {"1", 409, `{"error":{"code":"conflict"}}`, nil},
		"not a worker":    {"", 200, "", ErrWireVersion},
		"not found":       {"", 404, "", nil},
	} {
		a := serve(t, socketDir(t), func(w http.ResponseWriter, _ *http.Request) {
			if c.wire != "" {
				w.Header().Set(Header, c.wire)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		client := Client{Address: a, Deadline: time.Now().Add(time.Minute)}
		if resp, err := client.Get("/"); !errors.Is(err, c.want) || err == nil && c.want != nil || resp.Status != c.status {
			t.Errorf("%s: %d, %v; want %v", name, resp.Status, err, c.want)
		}
	}
}

func TestNoWorker(t *testing.T) {
	dir := socketDir(t)
	client := Client{Address: Find(dir, os.Getenv), Deadline: time.Now().Add(time.Minute)}
	if _, err := client.Get("/"); !errors.Is(err, ErrNoWorker) {
		t.Errorf("no socket: %v", err)
	}
	if err := os.WriteFile(client.Address.Socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get("/"); !errors.Is(err, ErrNoWorker) {
		t.Errorf("a file in its place: %v", err)
	}
	if err := os.Remove(client.Address.Socket); err != nil {
		t.Fatal(err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: client.Address.Socket})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get("/"); !errors.Is(err, ErrNoWorker) {
		t.Errorf("a dead socket: %v", err)
	}
}

// TestDeadline: a worker that accepts and says nothing, one that stops in the
// middle, and a deadline that has passed already.
func TestDeadline(t *testing.T) {
	for name, said := range map[string]string{"nothing": "", "half": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx"} {
		dir := socketDir(t)
		a := Find(dir, os.Getenv)
		listener, err := net.Listen("unix", a.Socket)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, said)
			_, _ = io.Copy(io.Discard, c) // until the client gives up
			_ = c.Close()
		}()
		client := Client{Address: a, Deadline: time.Now().Add(30 * time.Millisecond)}
		if _, err := client.Get("/"); !os.IsTimeout(err) {
			t.Errorf("%s: %v, want a time-out", name, err)
		}
		client.Deadline = time.Now().Add(-time.Second)
		if _, err := client.Get("/"); !os.IsTimeout(err) {
			t.Errorf("%s, after the deadline: %v, want a time-out", name, err)
		}
		_ = listener.Close()
	}
}

func TestAnswers(t *testing.T) {
	a, err := ParseAnswer([]byte(`{"status":"skipped","reason":"tool","session_db_id":7,"prompt_number":3,"additional_context":"x","new":[]}`))
	if want := (Answer{Status: "skipped", Reason: "tool", SessionDBID: 7, PromptNumber: 3, AdditionalContext: "x"}); err != nil || a != want {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = ParseAnswer([]byte(`{"error":{"code":"storage","message":"disk full"}}`))
	if err != nil || a.Code != memory.CodeStorage {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = ParseAnswer([]byte(`{"error":"text","status":5}`)); err != nil || a.Code != memory.CodeInternal || a.Status != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err = ParseAnswer([]byte("<html>")); err == nil {
		t.Error("HTML is an answer")
	}
	c, err := ParseContextAnswer([]byte(`{"context":"a\nb","system_message":"m","tokens":1}`))
	if want := (ContextAnswer{"a\nb", "m"}); err != nil || c != want {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestContextTarget(t *testing.T) {
	got := ContextTarget(&memory.ContextRequest{Host: "claude-code", HostSessionID: "a b&c=é", ProjectPath: "/x/y+z", Source: "clear", Budget: 100,
		Checkout: memory.Checkout{Root: "/x/y+z/tree", Branch: "a&b", HeadCommit: "12ab"}, StartDir: "/x/y+z/tree/a b", ConfigDir: "/home/me/.claude"})
	r, err := http.NewRequest(http.MethodGet, "http://x"+got, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := r.URL.Query()
	if r.URL.Path != PathContext || q.Get("host") != "claude-code" || q.Get("session_id") != "a b&c=é" || q.Get("project_path") != "/x/y+z" || q.Get("source") != "clear" || q.Get("budget") != "100" {
		t.Errorf("%s reads %v", got, q)
	}
	if q.Get("worktree_root") != "/x/y+z/tree" || q.Get("branch") != "a&b" || q.Get("head_commit") != "12ab" {
		t.Errorf("%s reads %v", got, q)
	}
	if q.Get("start_dir") != "/x/y+z/tree/a b" || q.Get("config_dir") != "/home/me/.claude" {
		t.Errorf("%s reads %v", got, q)
	}
	if got, want := ContextTarget(&memory.ContextRequest{Host: "raw", ProjectPath: "/p"}), PathContext+"?host=raw&session_id=&project_path=/p"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSocketPath(t *testing.T) {
	env := map[string]string{"XDG_RUNTIME_DIR": "/run/user/1000", "TMPDIR": "/var/tmp"}
	getenv := func(key string) string { return env[key] }
	if got := SocketPath("/home/me/.claude-mem", getenv); got != filepath.FromSlash("/home/me/.claude-mem/worker.sock") {
		t.Errorf("got %q", got)
	}
	long := "/home/me/" + strings.Repeat("long/", 30) + "mem"
	a, b := SocketPath(long, getenv), SocketPath(long+"2", getenv)
	if !strings.HasPrefix(a, filepath.FromSlash("/run/user/1000/claude-mem-")) || a == b || len(a) > maxSocketPath {
		t.Errorf("long paths have %q and %q", a, b)
	}
	if SocketPath(long+"/", getenv) != a {
		t.Error("the same directory has two sockets")
	}
	env["XDG_RUNTIME_DIR"] = ""
	if got := SocketPath(long, getenv); !strings.HasPrefix(got, filepath.FromSlash("/var/tmp/claude-mem-")) {
		t.Errorf("without a runtime directory: %q", got)
	}
	env["TMPDIR"] = "/" + strings.Repeat("x", 100)
	if got := SocketPath(long, getenv); len(got) > maxSocketPath {
		t.Errorf("with a long temporary directory: %q", got)
	}
}

// TestLongDataDir: the socket lies elsewhere, in a directory of our own, and is
// found through worker.json when the environments of both sides differ.
func TestLongDataDir(t *testing.T) {
	tmp := socketDir(t)
	dir := filepath.Join(tmp, strings.Repeat("x", 60), strings.Repeat("y", 60))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ours := func(key string) string {
		if key == "XDG_RUNTIME_DIR" {
			return tmp
		}
		return ""
	}
	socket, refused, err := PrepareSocket(dir, ours)
	if err != nil || socket != SocketPath(dir, ours) || refused != nil {
		t.Fatal(socket, refused, err)
	}
	if err := WriteWorkerInfo(dir, WorkerInfo{PID: 1, Wire: Version, Socket: socket}); err != nil {
		t.Fatal(err)
	}
	a := Find(dir, func(string) string { return "" })
	if a.Socket != socket || !a.trusted() {
		t.Errorf("found %+v, want %q", a, socket)
	}
	if err := os.Chmod(filepath.Dir(socket), 0o777); err != nil {
		t.Fatal(err)
	}
	if Alone(filepath.Dir(socket)) != (os.PathSeparator == '\\') {
		t.Skip("no modes")
	}
	client := Client{Address: a, Deadline: time.Now().Add(time.Minute)}
	if _, err := client.Get("/"); !errors.Is(err, ErrNoWorker) {
		t.Errorf("a directory open to all: %v", err)
	}
}

// TestSquattedSocket: where others hold every directory that the socket would have, it gets
// one with a random name, which a second worker uses again.
func TestSquattedSocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	tmp := socketDir(t)
	dir := filepath.Join(tmp, strings.Repeat("x", 60), strings.Repeat("y", 60))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ours := func(string) string { return tmp }
	squatted := filepath.Dir(SocketPath(dir, ours))
	everywhere := filepath.Join("/tmp", ownName(dir))
	for _, taken := range []string{squatted, everywhere} {
		if err := os.Mkdir(taken, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(taken, 0o777); err != nil { //nolint:gosec // the point
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.RemoveAll(everywhere) })
	socket, refused, err := PrepareSocket(dir, ours)
	own := filepath.Dir(socket)
	if err != nil || own == squatted || !strings.HasPrefix(own, squatted+"-") || !Alone(own) {
		t.Fatalf("%s, %v, want a private directory beside %s", socket, err, squatted)
	}
	if !slices.Contains(refused, squatted) || !slices.Contains(refused, everywhere) {
		t.Errorf("refused %q", refused)
	}
	if err := WriteWorkerInfo(dir, WorkerInfo{PID: 1, Wire: Version, Socket: socket}); err != nil {
		t.Fatal(err)
	}
	if a := Find(dir, ours); a.Socket != socket || !a.trusted() {
		t.Errorf("found %+v, want %s", a, socket)
	}
	if again, _, err := PrepareSocket(dir, ours); err != nil || again != socket {
		t.Errorf("after a kill: %s, %v, want %s", again, err, socket)
	}
	LeaveSocket(dir, socket)
	if _, err := os.Lstat(own); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", own, err)
	}
}

func TestToken(t *testing.T) {
	for in, want := range map[string]string{"abc\n": "abc", "a\r\nX: y": "", "é": "", "": ""} {
		if got := cleanToken(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := string(requestHead("GET", "/", "abc", 0)); !strings.Contains(got, "\r\nAuthorization: Bearer abc\r\n") {
		t.Errorf("request %q", got)
	}
}

func BenchmarkExchange(b *testing.B) {
	for _, n := range []int{2400, 1 << 20} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir, err := os.MkdirTemp("", "cm")
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = os.RemoveAll(dir) }()
			a := Find(dir, os.Getenv)
			listener, err := net.Listen("unix", a.Socket)
			if err != nil {
				b.Fatal(err)
			}
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set(Header, VersionText)
				w.WriteHeader(http.StatusAccepted)
			})}
			go func() { _ = server.Serve(listener) }()
			defer func() { _ = server.Close() }()
			body := make([]byte, n)
			for b.Loop() {
				client := Client{Address: a, Deadline: time.Now().Add(time.Minute)}
				if _, err := client.Post(PathObservation, body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A connection made ahead serves one exchange; the next one makes its own. What
// kept it from being made is the exchange's error.
func TestDialAhead(t *testing.T) {
	dir := socketDir(t)
	var posted []string
	address := serve(t, dir, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(Header, VersionText)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // given up
		}
		posted = append(posted, fmt.Sprintf("%s %d", r.URL.Path, len(body)))
		w.WriteHeader(http.StatusAccepted)
	})
	c := Client{Address: address, Deadline: time.Now().Add(time.Minute)}
	var want []string
	for _, n := range []int{0, 1, 2400, largePiece, 5 << 20} {
		c.Dial()
		for range 2 { // the second goes on a connection of its own
			if resp, err := c.Post(PathObservation, make([]byte, n)); err != nil || resp.Status != http.StatusAccepted {
				t.Fatalf("%d bytes: %d, %v", n, resp.Status, err)
			}
			want = append(want, fmt.Sprintf("%s %d", PathObservation, n))
		}
	}
	c.Dial()
	c.Close() // not used after all
	c.Close()
	if !slices.Equal(posted, want) {
		t.Errorf("arrived %q, want %q", posted, want)
	}

	nobody := Client{Address: Address{Socket: filepath.Join(dir, "nobody")}, Deadline: c.Deadline}
	nobody.Dial()
	if _, err := nobody.Post(PathInit, nil); !errors.Is(err, ErrNoWorker) {
		t.Errorf("got %v, want ErrNoWorker", err)
	}
}

// TestDialAheadClosed: a worker that closed the early connection gets the event on another
// one.
func TestDialAheadClosed(t *testing.T) {
	dir := socketDir(t)
	listener, err := net.Listen("unix", filepath.Join(dir, "worker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	c := Client{Address: Address{Socket: listener.Addr().String()}, Deadline: time.Now().Add(time.Minute)}
	c.Dial()
	first, err := listener.Accept()
	if err == nil {
		err = first.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		second, err := listener.Accept()
		if err != nil {
			served <- err
			return
		}
		defer func() { _ = second.Close() }()
		if _, err = http.ReadRequest(bufio.NewReader(second)); err == nil {
			_, err = io.WriteString(second, "HTTP/1.1 202 Accepted\r\n"+Header+": "+VersionText+"\r\nContent-Length: 0\r\n\r\n")
		}
		served <- err
	}()
	if resp, err := c.Post(PathObservation, []byte("{}")); err != nil || resp.Status != http.StatusAccepted {
		t.Errorf("%d, %v", resp.Status, err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestRefusedBeforeBody has a worker of another version refuse before it reads the body.
func TestRefusedBeforeBody(t *testing.T) {
	address := serve(t, socketDir(t), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(Header, "2")
		w.WriteHeader(http.StatusConflict)
		_ = http.NewResponseController(w).Flush()
	})
	for _, n := range []int{0, 2400, 5 << 20} {
		c := Client{Address: address, Deadline: time.Now().Add(time.Minute)}
		c.Dial()
		if _, err := c.Post(PathObservation, make([]byte, n)); !errors.Is(err, ErrWireVersion) {
			t.Errorf("%d bytes: %v, want ErrWireVersion", n, err)
		}
	}
}

func TestLastStart(t *testing.T) {
	dir := t.TempDir()
	if _, attempts, _, err := LastStart(dir); attempts != 0 || err != nil {
		t.Errorf("without a marker: %d, %v", attempts, err)
	}
	first := time.UnixMilli(1_700_000_000_000)
	for i, at := range []time.Time{first, first.Add(time.Hour)} {
		if ok, err := ClaimStart(dir, at, false); !ok || err != nil {
			t.Fatalf("claim: %v, %v", ok, err)
		}
		if got, attempts, _, err := LastStart(dir); !got.Equal(at) || attempts != i+1 || err != nil {
			t.Errorf("got %v, %d, %v; want %v, %d", got, attempts, err, at, i+1)
		}
	}
	if err := os.WriteFile(startingPath(dir), []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, attempts, _, err := LastStart(dir); attempts != 0 || err != nil {
		t.Errorf("of a damaged marker: %d, %v", attempts, err)
	}
}
