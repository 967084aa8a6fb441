package embedder

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"claudemem"
)

const (
	// firstPause is how long the client waits after a failure; it doubles with each
	// further one up to longestPause. A search without vectors is a good search,
	// so there is no hurry, and a server that starts again is found in minutes.
	firstPause   = 5 * time.Second
	longestPause = 5 * time.Minute
	// longestAsked bounds what a Retry-After may ask for: an hour later the client
	// asks again, whatever the server said.
	longestAsked = time.Hour
	// maxDetail is how much of a server's message is shown, in characters.
	maxDetail = 200
)

// Pause is why the server is not asked, and until when.
type Pause struct {
	Reason string
	Until  time.Time
	// Failures counts those in a row.
	Failures int
	length   time.Duration
	began    time.Time
}

func (p *Pause) Error() string {
	return fmt.Sprintf("the embedding server failed (%s)", p.Reason)
}

// RetryAt is when it makes sense to ask again.
func (p *Pause) RetryAt() time.Time { return p.Until }

// Trouble returns the last failure, nil when the last request went well or there
// was none: what doctor shows.
func (c *Client) Trouble() *Pause {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pause
}

// paused returns the error of a pause that lasts.
func (c *Client) paused() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pause == nil {
		return nil
	}
	now := c.now()
	// A clock that was set back must not make the pause longer.
	if !now.Before(c.pause.Until) || now.Before(c.pause.began) {
		return nil
	}
	return c.unavailable(c.pause)
}

func (c *Client) worked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pause = nil
}

// failed notes a failure, begins a pause and returns the error.
func (c *Client) failed(reason string) error { return c.begin(0, firstPause, reason) }

// failedStatus is failed for an answer with a status that is an error. asked is
// how long the server wants to be left alone, 0 when it does not say.
func (c *Client) failedStatus(status int, asked time.Duration, detail string) error {
	if detail == "" {
		detail = http.StatusText(status)
	}
	reason := fmt.Sprintf("status %d: %s", status, detail)
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusPaymentRequired:
		// Somebody has to set something right; asking again soon cannot help.
		return c.begin(asked, longestPause, reason)
	}
	return c.begin(asked, firstPause, reason)
}

func (c *Client) begin(asked, first time.Duration, reason string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	p := &Pause{Reason: reason, Failures: 1, length: first, began: now}
	if last := c.pause; last != nil {
		p.Failures = last.Failures + 1
		p.length = max(first, last.length)
		// Requests that were under way together are one failure.
		if !now.Before(last.Until) {
			p.length = max(first, min(2*last.length, longestPause))
		}
	}
	wait := p.length
	if asked > 0 {
		wait = min(asked, longestAsked)
	}
	p.Until = now.Add(wait)
	c.pause = p
	return c.unavailable(p)
}

func (c *Client) unavailable(p *Pause) error {
	return claudemem.Errorf(claudemem.CodeUnavailable, "no vectors: %w", p).
		WithHint("search goes on by words; the server is asked again at " + p.Until.Format(time.RFC3339) +
			"; it is set by CLAUDE_MEM_EMBEDDER_BASE_URL, _MODEL and _API_KEY")
}

// keyLike finds what looks like a credential in a server's message.
var keyLike = regexp.MustCompile(`(?i)\b(?:(?:sk|pk)[-_]|bearer )[A-Za-z0-9_\-.]{8,}|[A-Za-z0-9_\-]{32,}`)

// clean makes a server's words fit to be shown: without the key, in one line, short.
func (c *Client) clean(text string) string {
	// Bounded before the work; a key across the cut would survive in part, so the
	// cut is far behind the final one.
	if len(text) > 16*maxDetail {
		text = text[:16*maxDetail]
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if c.key != "" {
		text = strings.ReplaceAll(text, c.key, "[redacted]")
	}
	text = keyLike.ReplaceAllString(text, "[redacted]")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); len(runes) > maxDetail {
		text = string(runes[:maxDetail]) + "…"
	}
	return text
}

// retryAfter is how long an answer asks to wait: Retry-After in seconds or as an
// HTTP date (RFC 9110, 10.2.3); 0 when it does not say, or nothing readable.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		if seconds >= longestAsked.Seconds() {
			return longestAsked
		}
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), longestAsked)
	}
	return 0
}
