package embedder

import (
	"fmt"
	"net/http"
	"time"

	"claudemem/internal/memory"
)

const (
	// firstPause is the pause after a failure; it doubles with each further one up
	// to longestPause. A search without vectors is a good search, so there is no
	// hurry, and a restarted server is found within minutes.
	firstPause   = 5 * time.Second
	longestPause = 5 * time.Minute
	// longestAsked bounds the server's Retry-After.
	longestAsked = time.Hour
)

// pause is the time after a failure in which the server is not asked.
type pause struct {
	reason       string
	began, until time.Time
	length       time.Duration // without what the server asked for
}

func (p *pause) Error() string {
	return fmt.Sprintf("the embedding server failed (%s)", p.reason)
}

// paused returns the error of the current pause, nil when there is none.
func (c *Client) paused() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.endpoint.Now()
	// A clock that was set back ends the pause.
	if c.pause == nil || !now.Before(c.pause.until) || now.Before(c.pause.began) {
		return nil
	}
	return c.unavailable(c.pause)
}

// noteFailure begins a pause and returns its error.
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

// startPause begins a pause after a failure and returns its error. asked is the
// server's Retry-After, 0 without one; first is the pause without it, doubled with
// each further failure.
func (c *Client) startPause(asked, first time.Duration, reason string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.endpoint.Now()
	p := &pause{reason: reason, length: first, began: now}
	if last := c.pause; last != nil {
		p.length = max(first, last.length)
		// Concurrent requests that fail together count as one failure.
		if !now.Before(last.until) {
			p.length = max(first, min(2*last.length, longestPause))
		}
	}
	wait := p.length
	if asked > 0 {
		wait = min(asked, longestAsked)
	}
	p.until = now.Add(wait)
	c.pause = p
	return c.unavailable(p)
}

// unavailable returns CodeUnavailable with the failure behind a pause and when the
// server is asked again.
func (c *Client) unavailable(p *pause) error {
	return memory.Errorf(memory.CodeUnavailable, "no vectors: %w", p).
		WithHint("search goes on by words; the server is asked again at " + p.until.Format(time.RFC3339) +
			"; it is set by CLAUDE_MEM_EMBEDDER_BASE_URL, _MODEL and _API_KEY")
}
