package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"claudemem"
)

// maxAnswerBytes bounds what is read of an answer. An observer's answers are a
// few kilobytes; 4 MB is room for any honest one.
const maxAnswerBytes = 4 << 20

// guard stands between an SDK and the network, the same for every vendor: it
// refuses what is too large, removes what the SDK says about this machine, and
// turns every answer that is not a usable one into a *failure, so that the
// SDKs, which differ in how they fail, only ever see success.
type guard struct {
	next http.RoundTripper
	now  func() time.Time
	key  string // to be masked in what the other side echoes
}

// RoundTrip returns an error for a status of 300 and above too, unlike other
// round trippers: see guard.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	req, err := outgoing(req)
	if err != nil {
		return nil, err
	}
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, &failure{class: claudemem.ClassTransient, text: "no connection: " + clean(causeText(err), g.key), free: unsent(err)}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if resp.StatusCode >= http.StatusMultipleChoices {
		// Also when its body was cut: the status says enough.
		return nil, g.classify(resp.StatusCode, resp.Header, body)
	}
	if err != nil {
		return nil, &failure{class: claudemem.ClassTransient, text: "the answer was cut off: " + clean(causeText(err), g.key)}
	}
	if f := g.unusable(resp.Header, body); f != nil {
		return nil, f
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	// Some servers call their JSON text/plain, which the SDKs would not read.
	resp.Header = resp.Header.Clone()
	resp.Header.Set("Content-Type", "application/json")
	return resp, nil
}

// outgoing is req as it is sent. req itself stays as it was.
func outgoing(req *http.Request) (*http.Request, error) {
	var body []byte
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("read own request: %w", err)
		}
		body = unescapeHTML(b)
	}
	if len(body) > MaxRequestBytes {
		return nil, &failure{
			class: claudemem.ClassPromptTooLong, free: true,
			text: fmt.Sprintf("the request has %d bytes, more than the %d that are sent", len(body), MaxRequestBytes),
		}
	}
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.ContentLength = int64(len(body))
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") { // system, architecture, Go version
			req.Header.Del(name)
		}
	}
	req.Header.Set("User-Agent", "claude-mem")
	return req, nil
}

// unescapeHTML writes <, > and & in JSON as themselves. An encoder's \u003c is
// six bytes instead of one, and an observer's prompt is full of them.
func unescapeHTML(body []byte) []byte {
	if !bytes.Contains(body, []byte(`\u00`)) {
		return body
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' || i+1 == len(body) {
			out = append(out, body[i])
			continue
		}
		if i+5 < len(body) && body[i+1] == 'u' {
			switch string(body[i+2 : i+6]) {
			case "003c":
				out, i = append(out, '<'), i+5
				continue
			case "003e":
				out, i = append(out, '>'), i+5
				continue
			case "0026":
				out, i = append(out, '&'), i+5
				continue
			}
		}
		// Both bytes of an escape at once: the second may be a backslash too.
		out, i = append(out, body[i], body[i+1]), i+1
	}
	return out
}

// unusable returns the failure that an answer with status 200 is, nil if it is none.
func (g *guard) unusable(header http.Header, body []byte) *failure {
	switch {
	case len(body) > maxAnswerBytes:
		return &failure{class: claudemem.ClassGarbage, text: fmt.Sprintf("the answer is larger than %d bytes", maxAnswerBytes)}
	case len(bytes.TrimSpace(body)) == 0:
		return &failure{class: claudemem.ClassGarbage, text: "empty answer"}
	}
	var seen struct {
		Error   json.RawMessage `json:"error"`
		Choices []struct {
			Error json.RawMessage `json:"error"`
		} `json:"choices"`
	}
	err := json.Unmarshal(body, &seen)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(body)) && strings.HasPrefix(strings.TrimSpace(string(body)), "{"):
		return &failure{class: claudemem.ClassTransient, text: "the answer was cut off"}
	case err != nil:
		if class, ok := ErrorInText(string(body)); ok {
			return &failure{class: class, text: "the answer is an error: " + clean(string(body), g.key)}
		}
		return &failure{class: claudemem.ClassGarbage, text: "the answer is not the JSON of this API"}
	}
	// OpenRouter reports what happens while a model answers with status 200.
	embedded := seen.Error
	if !holds(embedded) && len(seen.Choices) > 0 {
		embedded = seen.Choices[0].Error
	}
	if holds(embedded) {
		return g.classify(http.StatusOK, header, fmt.Appendf(nil, `{"error":%s}`, embedded))
	}
	return nil
}

func holds(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// causeText is err without the URL that net/http puts before it.
func causeText(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}
