package claude

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"claudemem/internal/memory"
)

func TestFailures(t *testing.T) {
	type want struct {
		class memory.ErrorClass
		wait  time.Duration
		free  bool
		text  string
	}
	tests := []struct {
		prompt string
		want   want
	}{
		{"status 401 authentication_failed", want{memory.ClassLogin, 0, true, "401"}},
		{"status 403 authentication_failed", want{memory.ClassLogin, 0, true, "403"}},
		{"status 404 model_not_found", want{memory.ClassLogin, 0, true, "404"}},
		{"status 400 billing_error", want{memory.ClassQuota, 0, true, "400"}},
		{"status 400 invalid_request", want{memory.ClassGarbage, 0, true, "400"}},
		{"status 413 invalid_request", want{memory.ClassPromptTooLong, 0, true, "413"}},
		{"status 429 rate_limit", want{memory.ClassRateLimit, 0, true, "429"}},
		{"status 500 server_error", want{memory.ClassTransient, 0, true, "500"}},
		{"status 529 server_error", want{memory.ClassTransient, 0, true, "529"}},
		{"retryfail", want{memory.ClassRateLimit, 7 * time.Second, true, "429"}},
		{"retrylong", want{memory.ClassRateLimit, 2 * time.Minute, true, "wait for 2m0s"}},
		{"limit", want{memory.ClassQuota, 90 * time.Minute, true, "session limit"}},
		{"says Claude AI usage limit reached|1772604367", want{memory.ClassQuota, time.Hour, true, "usage limit"}},
		{"says Credit balance is too low", want{memory.ClassQuota, 0, true, "Credit balance"}},
		{"says OAuth token has expired · Please run /login", want{memory.ClassLogin, 0, true, "/login"}},
		{"says Something that nobody has ever seen", want{memory.ClassTransient, 0, true, "nobody"}},
		{"says API Error: Failed to parse JSON", want{memory.ClassGarbage, 0, true, "JSON"}},
		{"calls You've hit your weekly limit · resets Monday", want{memory.ClassQuota, 0, false, "weekly limit"}},
		{"calls API Error: 529 Overloaded", want{memory.ClassTransient, 0, false, "529"}},
		{"calls Invalid API key · Please run /login", want{memory.ClassLogin, 0, false, "/login"}},
		{"toolong", want{memory.ClassPromptTooLong, 0, true, "too long"}},
		{"refuse", want{memory.ClassGarbage, 0, false, "Usage Policy"}},
		{"empty", want{memory.ClassGarbage, 0, false, "empty answer"}},
		{"interrupted", want{memory.ClassTransient, 0, true, "error_during_execution"}},
		{"cut", want{memory.ClassTransient, 0, false, "without an answer"}},
		{"nonsense", want{memory.ClassTransient, 0, false, "without an answer"}},
		{"exit 3", want{memory.ClassTransient, 0, false, "exit status 3"}},
		{"huge 6000000", want{memory.ClassGarbage, 0, false, "longer than"}},
	}
	b := newBench(t)
	p := b.open()
	for _, test := range tests {
		t.Run(test.prompt, func(t *testing.T) {
			_, err := p.Complete(t.Context(), request(uuid.NewString(), test.prompt))
			var e *memory.ModelError
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			got := want{e.Class, e.Wait, e.Free, test.want.text}
			if got != test.want || !strings.Contains(err.Error(), test.want.text) || e.Provider != Name {
				t.Errorf("got %+v: %v\nwant %+v", got, err, test.want)
			}
			if strings.Contains(err.Error(), testKey) || strings.Contains(err.Error(), "VERYSECRET") {
				t.Errorf("a key is in %q", err)
			}
			if cost := e.Usage != (memory.ModelUsage{}); cost != strings.Contains("calls refuse empty", strings.Fields(test.prompt)[0]) {
				t.Errorf("usage %+v", e.Usage)
			}
		})
	}
	if got := ask(t, p, request(runA, "one")); got != "<a>one after 0</a>" {
		t.Errorf("answer after all that: %q", got)
	}
}

func TestNotLoggedIn(t *testing.T) {
	b := newBench(t, "FAKE_LOGGED_OUT=1")
	p := b.open()
	_, err := p.Complete(t.Context(), request(runA, "one"))
	var e *memory.ModelError
	if !errors.As(err, &e) || e.Class != memory.ClassLogin || !strings.Contains(err.Error(), "Please run /login") {
		t.Errorf("error %v", err)
	}
	wantStarts(t, b, "A new")
}

func TestUnusualAnswers(t *testing.T) {
	b := newBench(t)
	p := b.open()
	for _, test := range []struct{ prompt, want string }{
		{"garbage", "after garbage"},
		{"retry", "at last"},
		{"twice", "first half, second half"},
		{"resultonly", "only here"},
		{"big 1500000", strings.Repeat("y", 1500000)},
		{"calls <observation><title>Usage limit reached</title></observation>", "<observation><title>Usage limit reached</title></observation>"},
	} {
		if got := ask(t, p, request(uuid.NewString(), test.prompt)); got != test.want {
			t.Errorf("%s: %.100q", test.prompt, got)
		}
	}
}

func TestHungProcessIsKilled(t *testing.T) {
	b := newBench(t)
	p := b.open(timeout(300 * time.Millisecond))
	_, err := p.Complete(t.Context(), request(runA, "hang"))
	var e *memory.ModelError
	if !errors.As(err, &e) || e.Class != memory.ClassTransient || !strings.Contains(err.Error(), "no answer within 300ms") {
		t.Errorf("error %v", err)
	}
	b.noneLeft()

	ctx, cancel := context.WithCancel(t.Context())
	p = b.open()
	done := make(chan error)
	go func() {
		_, err := p.Complete(ctx, request(runB, "hang"))
		done <- err
	}()
	eventually(t, "prompt read", func() bool {
		return slices.ContainsFunc(b.records("prompt"), func(r record) bool { return r.Session == runB })
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	b.noneLeft()
}
