package claude

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/distil/model"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// failed returns the error of a call that failed; free says that nothing was asked
// of the model.
func failed(class memory.ErrorClass, free bool, format string, args ...any) *memory.ModelError {
	return &memory.ModelError{Provider: Name, Class: class, Free: free, Err: fmt.Errorf(format, args...)}
}

// maxWait bounds the wait after a failure: the longest limit of a plan is a
// week's.
const maxWait = 7 * 24 * time.Hour

// problem describes a failed call with what the CLI said about it.
type problem struct {
	known  memory.ErrorClass // when it is known already; else the fields below decide
	text   string
	status int    // of the API's answer, 0 if unknown
	kind   string // the CLI's own class: rate_limit, authentication_failed, billing_error, …
	reason string // terminal_reason or stop_reason
	wait   time.Duration
	// limited: the subscription's limit is reached; wait is the time until it is
	// renewed.
	limited bool
}

// class returns the class of a problem. Words come first where the CLI uses one
// status for several failures. A problem that is not recognised is transient,
// because the events may not be its cause.
func (p problem) class() memory.ErrorClass {
	said := strings.ToLower(p.text)
	switch {
	case p.known != "":
		return p.known
	case p.reason == "prompt_too_long", p.status == 413,
		text.ContainsAny(said, "prompt is too long", "prompt too long", "exceed context limit", "request too large"):
		return memory.ClassPromptTooLong
	case p.limited, p.kind == "billing_error", p.status == 402, quotaText.MatchString(said):
		return memory.ClassQuota
	case p.kind == "authentication_failed", p.kind == "oauth_org_not_allowed", p.status == 401, p.status == 403,
		text.ContainsAny(said, "/login", "invalid api key", "not logged in", "setup-token", "oauth token"):
		return memory.ClassLogin
	case p.kind == "rate_limit", p.status == 429:
		return memory.ClassRateLimit
	case p.kind == "model_not_found", p.status == 404, text.ContainsAny(said, "issue with the selected model", "unknown option"):
		return memory.ClassLogin // a setting is wrong
	case p.kind == "overloaded", p.kind == "server_error", p.status >= 500, p.status == 408, p.status == 409:
		return memory.ClassTransient
	case p.reason == "refusal", text.ContainsAny(said, "usage policy"),
		p.kind == "invalid_request", p.kind == "max_output_tokens", p.status == 400, p.status == 422,
		text.ContainsAny(said, "failed to parse json", "output token maximum"):
		return memory.ClassGarbage
	}
	return memory.ClassTransient
}

// fail returns the error of a call. Only classes that pass by themselves have a time to wait.
func (p *Provider) fail(what problem, usage memory.ModelUsage, free bool) error {
	f := failed(what.class(), free, "%s", p.clean(what.text))
	f.Usage = usage
	switch f.Class {
	case memory.ClassRateLimit, memory.ClassQuota, memory.ClassTransient:
		f.Wait = min(max(what.wait, 0), maxWait)
	}
	if f.Class == memory.ClassQuota && f.Wait == 0 {
		f.Wait = resetIn(what.text, p.opts.Clock())
	}
	return f
}

// quotaText matches the CLI's messages about a reached limit, in lower case.
var quotaText = regexp.MustCompile(`credit balance (is )?too low|usage limit reached|you(['’]ve| have) (hit|reached) your [a-z0-9 -]{0,40}limit|` +
	`\b(5-hour|weekly|daily|monthly|session|opus|sonnet) (usage )?limit reached|out of (extra usage|credits)|specified api usage limits`)

// resetAt matches the time that older CLIs add to "usage limit reached".
var resetAt = regexp.MustCompile(`limit reached\|([0-9]{10})\b`)

// resetIn returns the time from now until the limit that a message of the CLI names is
// reset, 0 when it names none.
func resetIn(text string, now time.Time) time.Duration {
	m := resetAt.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	seconds, _ := strconv.ParseFloat(m[1], 64) // ten digits
	return until(seconds, now)
}

// until returns the time to epoch in seconds since 1970, at most maxWait.
func until(epoch float64, now time.Time) time.Duration {
	return time.Duration(max(0, min(epoch-float64(now.Unix()), maxWait.Seconds())) * float64(time.Second))
}

// clean returns foreign text in a form fit for an error and a log.
func (p *Provider) clean(text string) string { return model.Clean(text, p.secrets...) }
