package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"claudemem/internal/memory"
)

// reminderFunc is a Reminder that records its calls.
type reminderFunc struct {
	mu        sync.Mutex
	recall    func(context.Context, memory.Event) (memory.Recollection, error)
	asked     []memory.Event
	sessions  []memory.SessionID
	forgotten []memory.Recollection
}

func (f *reminderFunc) Recall(ctx context.Context, e memory.Event, session memory.SessionID) (memory.Recollection, error) {
	f.mu.Lock()
	f.asked, f.sessions = append(f.asked, e), append(f.sessions, session)
	recall := f.recall
	f.mu.Unlock()
	return recall(ctx, e)
}

func (f *reminderFunc) Forget(r memory.Recollection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgotten = append(f.forgotten, r)
}

var limiter = memory.Recollection{
	Text:      "<claude-mem-context>\n- Limiter: <8 per second (#7)\n</claude-mem-context>",
	Injection: memory.Injection{Where: "UserPromptSubmit", Source: "prompt", Observations: []memory.ObservationID{7}},
}

func tells(r memory.Recollection) func(context.Context, memory.Event) (memory.Recollection, error) {
	return func(context.Context, memory.Event) (memory.Recollection, error) { return r, nil }
}

const (
	promptBody = `{"session":"s1","host":"claude-code","prompt":"why is the limiter slow"}`
	readBody   = `{"session":"s1","tool_name":"Read","tool_input":{"file_path":"/p/limiter.go"},"tool_response":{"file":{"content":"package limiter"}}}`
)

// TestEventsThatAreMoments: the receipt of a stored prompt, file read or failure has the
// Reminder's text, which is booked after it was sent; the Reminder is asked about no other
// events.
func TestEventsThatAreMoments(t *testing.T) {
	const ok = memory.StatusPending
	for name, tt := range map[string]struct {
		path, body string
		status     memory.Status
		asked      bool
	}{
		"prompt":                {"init", promptBody, ok, true},
		"read":                  {"observations", readBody, ok, true},
		"failure":               {"observations", `{"session":"s1","tool_name":"Bash","error":"exit 1"}`, ok, true},
		"other tool":            {"observations", `{"session":"s1","tool_name":"Bash","tool_response":"x"}`, ok, false},
		"subagent's read":       {"observations", `{"session":"s1","tool_name":"Read","agent_id":"a1"}`, ok, false},
		"stop":                  {"summarize", `{"session":"s1","last_assistant_message":"done"}`, ok, false},
		"flush":                 {"summarize", `{"session":"s1","kind":"flush"}`, ok, false},
		"end":                   {"complete", `{"session":"s1"}`, ok, false},
		"prompt that was there": {"init", promptBody, memory.StatusDuplicate, false},
		"skipped read":          {"observations", readBody, memory.StatusSkipped, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Options{})
			// Without room: whoever waits for its answer does not wait for what comes after.
			s.booked = make(chan memory.Injection)
			reminder := &reminderFunc{recall: tells(limiter)}
			s.api.Reminder = reminder
			s.receipt.Status = tt.status
			got := s.do(t, s.unix, "POST", "/api/sessions/"+tt.path, tt.body)
			var body struct {
				AdditionalContext *string `json:"additional_context"`
			}
			if err := json.Unmarshal([]byte(got.body), &body); err != nil {
				t.Fatal(err)
			}
			if (body.AdditionalContext != nil) != tt.asked || (len(reminder.asked) == 1) != tt.asked {
				t.Fatalf("asked %d times: %s; want it to be asked: %t", len(reminder.asked), got.body, tt.asked)
			}
			if !tt.asked {
				return
			}
			if *body.AdditionalContext != limiter.Text || reminder.sessions[0] != s.receipt.Session {
				t.Errorf("session %d got %q", reminder.sessions[0], *body.AdditionalContext)
			}
			if reminder.asked[0].ToolResponse != nil || len(s.last(t).ToolResponse) == 0 == strings.Contains(tt.body, "tool_response") {
				t.Errorf("asked with %s, ingested %s", reminder.asked[0].ToolResponse, s.last(t).ToolResponse)
			}
			if booked := <-s.booked; booked.Where != limiter.Injection.Where {
				t.Errorf("booked %+v", booked)
			}
			if len(reminder.forgotten) != 0 {
				t.Errorf("forgot %+v", reminder.forgotten)
			}
		})
	}
}

// TestSilence: without a text, the receipt has no context and nothing is booked.
func TestSilence(t *testing.T) {
	s := serve(t, Options{})
	s.api.Reminder = &reminderFunc{recall: tells(memory.Recollection{})}
	got := s.do(t, s.unix, "POST", "/api/sessions/init", promptBody)
	if want := `{"status":"queued","session_db_id":12,"prompt_number":3}`; got.status != 202 || strings.TrimSpace(got.body) != want {
		t.Errorf("got %d %s, want 202 %s", got.status, got.body, want)
	}
	if len(s.booked) != 0 {
		t.Errorf("booked %+v", <-s.booked)
	}
}

// TestReminderInTrouble: if recall fails in any way, the receipt is sent; the failure is
// logged once, without the prompt.
func TestReminderInTrouble(t *testing.T) {
	secret := errors.New("cannot parse why is the limiter slow")
	for name, recall := range map[string]func(context.Context, memory.Event) (memory.Recollection, error){
		"fails": func(context.Context, memory.Event) (memory.Recollection, error) {
			return memory.Recollection{}, secret
		},
		"fails with text": func(context.Context, memory.Event) (memory.Recollection, error) { return limiter, secret },
		"panics":          func(context.Context, memory.Event) (memory.Recollection, error) { panic(secret.Error()) },
		"is late": func(ctx context.Context, _ memory.Event) (memory.Recollection, error) {
			<-ctx.Done()
			return memory.Recollection{}, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s := serve(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			reminder := &reminderFunc{recall: recall}
			s.api.Reminder = reminder
			slack := s.api.opts.Slack
			s.api.opts.Slack = 0
			for range 3 {
				got := s.do(t, s.unix, "POST", "/api/sessions/observations", readBody)
				if got.status != 202 || strings.Contains(got.body, "additional_context") {
					t.Errorf("got %d %s", got.status, got.body)
				}
			}
			if got := log.String(); strings.Count(got, "recall failed") != 1 || strings.Contains(got, "limiter") {
				t.Errorf("log %s", got)
			}
			reminder.mu.Lock()
			reminder.recall = tells(limiter)
			reminder.mu.Unlock()
			s.api.opts.Slack = slack
			if got := s.do(t, s.unix, "POST", "/api/sessions/observations", readBody); !strings.Contains(got.body, "additional_context") {
				t.Errorf("after the trouble: %s", got.body)
			}
			if got := log.String(); strings.Count(got, "recall works again") != 1 {
				t.Errorf("log %s", got)
			}
			if booked := <-s.booked; booked.Source != limiter.Injection.Source || len(s.booked) != 0 {
				t.Errorf("booked %+v and %d more, want the last only", booked, len(s.booked))
			}
		})
	}
}

// remindOnce serves one request without a connection and writes the answer to w.
func remindOnce(t *testing.T, s *fakeWorker, reminder Reminder, w http.ResponseWriter, body string, left *context.CancelFunc) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://localhost/api/sessions/observations", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	ctx, cancel := contextWithLink(r)
	defer cancel()
	if left != nil {
		*left = cancel
	}
	a := newServer(s.deps(), Options{Random: zeros{}})
	a.Reminder = reminder
	a.router().ServeHTTP(w, r.WithContext(ctx))
}

// TestLateReminder: a Reminder that ignores its deadline delays nobody, and its late text
// counts as not shown.
func TestLateReminder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeWorker()
		release := make(chan struct{})
		reminder := &reminderFunc{recall: func(context.Context, memory.Event) (memory.Recollection, error) {
			<-release
			return limiter, nil
		}}
		answered := &flushes{ResponseRecorder: httptest.NewRecorder(), flushed: make(chan struct{})}
		done := make(chan struct{})
		go func() {
			remindOnce(t, s, reminder, answered, readBody, nil)
			close(done)
		}()
		<-answered.flushed
		if answered.Code != 202 || strings.Contains(answered.Body.String(), "additional_context") {
			t.Errorf("got %d %s", answered.Code, answered.Body)
		}
		close(release)
		<-done
		if len(reminder.forgotten) != 1 || len(s.booked) != 0 {
			t.Errorf("forgot %d, booked %d; want 1, 0", len(reminder.forgotten), len(s.booked))
		}
	})
}

// flushes is a recorder that signals when the answer is flushed.
type flushes struct {
	*httptest.ResponseRecorder
	flushed chan struct{}
}

func (f *flushes) Flush() { close(f.flushed) }

// broken is a recorder whose flush fails: the client has left.
type broken struct{ *httptest.ResponseRecorder }

func (broken) FlushError() error { return errors.New("broken pipe") }

// TestMomentThatWasNotGiven: a text that the client did not receive is not booked and can
// be shown again.
func TestMomentThatWasNotGiven(t *testing.T) {
	t.Run("left while it was looked for", func(t *testing.T) {
		s := newFakeWorker()
		var leave context.CancelFunc
		reminder := &reminderFunc{recall: func(context.Context, memory.Event) (memory.Recollection, error) {
			leave()
			return limiter, nil
		}}
		remindOnce(t, s, reminder, httptest.NewRecorder(), readBody, &leave)
		if len(reminder.forgotten) != 1 || len(s.booked) != 0 {
			t.Errorf("forgot %d, booked %d; want 1, 0", len(reminder.forgotten), len(s.booked))
		}
	})
	t.Run("could not be written", func(t *testing.T) {
		s := newFakeWorker()
		reminder := &reminderFunc{recall: tells(limiter)}
		remindOnce(t, s, reminder, broken{httptest.NewRecorder()}, readBody, nil)
		if len(reminder.forgotten) != 1 || len(s.booked) != 0 {
			t.Errorf("forgot %d, booked %d; want 1, 0", len(reminder.forgotten), len(s.booked))
		}
	})
	t.Run("the commit took all the time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFakeWorker()
			reminder := &reminderFunc{recall: tells(limiter)}
			r := httptest.NewRequest(http.MethodPost, "http://localhost/api/sessions/observations", strings.NewReader(readBody))
			ctx, cancel := contextWithLink(r)
			defer cancel()
			a := newServer(s.deps(), Options{Random: zeros{}})
			a.Reminder, a.Ingester = reminder, slowly{s}
			rec := httptest.NewRecorder()
			if err := a.ingest(memory.KindTool)(rec, r.WithContext(ctx), nil); err != nil || rec.Code != 202 {
				t.Errorf("got %d %s, %v", rec.Code, rec.Body, err)
			}
			if len(reminder.asked) != 0 {
				t.Error("it was asked for what nobody waits for")
			}
		})
	})
}

// slowly is an Ingester that takes its time.
type slowly struct{ *fakeWorker }

func (s slowly) Ingest(ctx context.Context, e memory.Event) (memory.TakenIn, error) {
	wait, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	<-wait.Done()
	return s.fakeWorker.Ingest(ctx, e)
}

// TestMomentAfterABlock: a prompt that comes while the context block is still being booked
// waits for that; else the same records would be shown twice.
func TestMomentAfterABlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeWorker()
		s.booked = make(chan memory.Injection) // a commit that takes its time
		s.block = memory.ContextBlock{Text: "x", Injection: memory.Injection{Host: "claude-code", HostSessionID: "s1", Where: "SessionStart"}}
		reminder := &reminderFunc{recall: tells(memory.Recollection{})}
		a := newServer(s.deps(), Options{Random: zeros{}})
		a.Reminder = reminder
		serve := func(r *http.Request) {
			go func() {
				ctx, cancel := contextWithLink(r)
				defer cancel()
				a.router().ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
			}()
			synctest.Wait()
		}
		prompt := func(session string) {
			r := httptest.NewRequest(http.MethodPost, "http://localhost/api/sessions/init", strings.NewReader(strings.Replace(promptBody, "s1", session, 1)))
			r.Header.Set("Content-Type", "application/json")
			serve(r)
		}
		asked := func() (sessions []string) {
			for _, e := range reminder.asked {
				sessions = append(sessions, e.HostSessionID)
			}
			return sessions
		}
		serve(httptest.NewRequest(http.MethodGet, "http://localhost/api/context?project_path=/p&host=claude-code&session_id=s1", nil))
		prompt("s1")
		prompt("s2") // another session waits for nothing
		if got := asked(); !slices.Equal(got, []string{"s2"}) {
			t.Errorf("before the block is booked: asked for %q", got)
		}
		<-s.booked
		synctest.Wait()
		if got := asked(); !slices.Equal(got, []string{"s2", "s1"}) {
			t.Errorf("after the block was booked: asked for %q", got)
		}
	})
}

// TestManyMomentsAtOnce: twenty concurrent hooks get their own texts.
func TestManyMomentsAtOnce(t *testing.T) {
	s := serve(t, Options{})
	s.booked = make(chan memory.Injection, 20)
	s.api.Reminder = &reminderFunc{recall: func(_ context.Context, e memory.Event) (memory.Recollection, error) {
		return memory.Recollection{Text: "for " + e.HostSessionID}, nil
	}}
	var hooks sync.WaitGroup
	for i := range 20 {
		session := string(rune('a' + i))
		hooks.Go(func() {
			got := s.do(t, s.unix, "POST", "/api/sessions/init", `{"session":"`+session+`","prompt":"why"}`)
			if !strings.Contains(got.body, `"for `+session+`"`) {
				t.Errorf("session %s got %s", session, got.body)
			}
		})
	}
	hooks.Wait()
}
