//go:build unix

package browse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// page is a browser with a page of the viewer open.
type page struct {
	t      *testing.T
	base   string
	token  string
	client *http.Client
}

// openPage opens the feed as `claude-mem open` has a browser do it.
func openPage(m *world.Memory, t *testing.T) *page {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(string(m.MustCommand("open", "--print")))
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, base: "http://" + u.Host, client: &http.Client{Jar: jar, Timeout: 10 * time.Second}}
	status, body := p.get(u.RequestURI())
	_, rest, ok := strings.Cut(body, `<meta name="page-token" content="`)
	if status != http.StatusOK || !ok {
		t.Fatalf("status %d: %s", status, body)
	}
	p.token, _, _ = strings.Cut(rest, `"`)
	return p
}

// get returns an answer, status 0 while no worker listens.
func (p *page) get(path string) (status int, body string) {
	answer, err := p.client.Get(p.base + path)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(content)
}

// post sends a change as the page's scripts do.
func (p *page) post(path, body string) (status int, answer string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Origin": p.base, "Sec-Fetch-Site": "same-origin", "X-Claude-Mem-Page": p.token} {
		r.Header.Set(name, value)
	}
	got, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	content, err := io.ReadAll(got.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return got.StatusCode, string(content)
}

// TestForgetInThePage has a page erase an observation: the worker that serves it ends, another
// one answers the same page, and no file of the data directory has the text any more.
func TestForgetInThePage(t *testing.T) {
	m := world.NewMemory(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.Configure(map[string]string{"PROVIDER": "offline", "WORKER_PORT": strconv.Itoa(free.Addr().(*net.TCPAddr).Port), "REQUIRE_TOKEN": "true"})
	_ = free.Close()
	m.MustCommand("worker", "start")
	first := m.WorkerPID()

	p := openPage(m, t)
	var kept, gone struct{ ID int }
	for text, into := range map[string]*struct{ ID int }{"The harmless one stays.": &kept, "The project is " + world.Needle + ".": &gone} {
		status, answer := p.post("/api/observations", fmt.Sprintf(`{"project":"/home/ada/shop","type":"decision","narrative":%q}`, text))
		if err := json.Unmarshal([]byte(answer), into); err != nil || status != http.StatusCreated {
			t.Fatalf("status %d, %v: %s", status, err, answer)
		}
	}
	m.MustCommand("backup")
	if found := m.Needles(); len(found) < 2 {
		t.Fatalf("only %v have it", found)
	}

	status, answer := p.post("/api/admin/forget", fmt.Sprintf(`{"observations":[%d]}`, gone.ID))
	if status != http.StatusAccepted || !strings.Contains(answer, `"state":"running"`) {
		t.Fatalf("status %d: %s", status, answer)
	}
	var last string
	for deadline := time.Now().Add(time.Minute); !strings.Contains(last, `"state":"done"`); time.Sleep(20 * time.Millisecond) {
		if _, last = p.get("/api/admin/forget"); time.Now().After(deadline) || strings.Contains(last, `"failed"`) {
			t.Fatalf("it has not ended: %s", last)
		}
	}
	if left := m.Needles(); len(left) > 0 {
		t.Errorf("%v have it still", left)
	}
	if second := m.WorkerPID(); second == 0 || second == first {
		t.Errorf("worker %d, then %d", first, second)
	}
	if status, body := p.get(fmt.Sprintf("/observation/%d", gone.ID)); status != http.StatusNotFound {
		t.Errorf("its page: status %d: %s", status, body)
	}
	if status, body := p.get(fmt.Sprintf("/observation/%d", kept.ID)); status != http.StatusOK || !strings.Contains(body, p.token) {
		t.Errorf("another page: status %d: %s", status, body)
	}
	if out := m.MustCommand("search", world.Needle, "--all", "--json"); !bytes.Contains(out, []byte(`"count": 0`)) {
		t.Errorf("the search finds %s", out)
	}
}

// TestDoctorInThePage: the page of the queue shows what the doctor finds, with its remedy.
func TestDoctorInThePage(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	var found struct {
		Findings []struct{ Check, Status, Text, Fix string }
	}
	out, _ := m.Command("doctor", "--json") // it exits with 9: no host is installed here
	if err := json.Unmarshal(out, &found); err != nil || len(found.Findings) < 10 {
		t.Fatalf("%v: %s", err, out)
	}
	status, body := onSocket(m, "/doctor?fragment=1")
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	broken := 0
	for _, f := range found.Findings {
		if f.Status == "fail" && f.Fix != "" {
			broken++
			if !strings.Contains(body, html.EscapeString(f.Fix)) {
				t.Errorf("the page is without %q", f.Fix)
			}
		}
	}
	if broken == 0 {
		t.Error("nothing is broken here, so that nothing is proven")
	}
}

// onSocket returns the worker's answer to a request of a program.
func onSocket(m *world.Memory, path string) (status int, body string) {
	m.T.Helper()
	var info struct{ Socket string }
	m.ReadJSON("worker.json", &info)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", info.Socket)
	}}
	defer transport.CloseIdleConnections()
	return (&page{base: "http://localhost", client: &http.Client{Transport: transport}}).get(path)
}
