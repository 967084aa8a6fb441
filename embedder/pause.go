package embedder

import (
	"fmt"
	"net/http"
	"time"

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

func (c *Client) noteSuccess() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pause = nil
}

// noteFailure notes a failure, begins a pause and returns the error.
func (c *Client) noteFailure(reason string) error { return c.startPause(0, firstPause, reason) }

// firstPauseOf returns the first pause after an answer with status.
func firstPauseOf(status int) time.Duration {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusPaymentRequired:
		// Somebody has to change a setting; asking again soon cannot help.
		return longestPause
	}
	return firstPause
}

// startPause notes a failure, begins a pause and returns the error. asked is how long
// the server asks to wait, 0 when it does not say; first is the pause otherwise,
// doubled with each further failure.
func (c *Client) startPause(asked, first time.Duration, reason string) error {
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
