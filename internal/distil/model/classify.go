package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// problem is the content of an error answer of any vendor, as far as it could be
// parsed.
type problem struct {
	status  int
	code    string // error.code, a number or a word
	kind    string // error.type, or Google's error.status
	message string
	wait    time.Duration // Google's RetryInfo
	// quotaIDs are Google's names of the exceeded quotas; unlike the message, they
	// tell a limit per minute from a limit per day.
	quotaIDs []string
	flagged  bool // OpenRouter: the input was refused by a moderator
	// object: the body is one error object with a message and a code or type.
	object bool
}

// classify returns the failure that an error answer reports. A status of 200
// means that the error was in a successful answer's body: the model may have worked for
// it, so that it is not free.
func (e *Endpoint) classify(status int, header http.Header, body []byte) *memory.ModelError {
	p := parseProblem(status, body)
	f := &memory.ModelError{Class: p.class(), Wait: cmp.Or(RetryAfter(header, e.now()), p.wait)}
	detail := cmp.Or(Clean(p.message, e.key), http.StatusText(p.status))
	if status == http.StatusOK {
		f.Err = errors.New("error in the answer: " + detail)
	} else {
		f.Status, f.Free, f.Err = status, true, fmt.Errorf("status %d: %s", status, detail)
	}
	if p.status == http.StatusBadRequest && strings.Contains(strings.ToLower(p.message), "temperature") {
		f.Err = fmt.Errorf("%w: %w", errTemperature, f.Err)
	}
	return f
}

// failed returns a failure of class without a provider's name.
func failed(class memory.ErrorClass, format string, args ...any) *memory.ModelError {
	return &memory.ModelError{Class: class, Err: fmt.Errorf(format, args...)}
}

// maxMessage bounds the part of an error's message that is examined, in bytes.
const maxMessage = 16 << 10

// parseProblem returns what the status and body of an API's refusal say, in the shapes
// of all vendors: message, code, kind, time to wait. An unreadable body gives the status and
// its text. In place of a status of 200 stands the one that the error corresponds to.
func parseProblem(status int, body []byte) problem {
	p := problem{status: status}
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 { // Gemini's compatible endpoint
		body = list[0]
	}
	var envelope struct {
		Error   json.RawMessage `json:"error"`
		Message flexible        `json:"message"`
		Detail  flexible        `json:"detail"`
		Code    flexible        `json:"code"`
		Type    flexible        `json:"type"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		if !bytes.HasPrefix(body, []byte("<")) { // skip a proxy's page
			p.message = string(body[:min(len(body), maxMessage)])
		}
		return p
	}
	var inner struct {
		Message  flexible `json:"message"`
		Code     flexible `json:"code"`
		Type     flexible `json:"type"`
		Status   flexible `json:"status"`
		Metadata struct {
			Reasons []flexible `json:"reasons"`
			Raw     flexible   `json:"raw"`
		} `json:"metadata"`
		Details []struct {
			RetryDelay flexible `json:"retryDelay"`
			Violations []struct {
				QuotaID flexible `json:"quotaId"`
			} `json:"violations"`
		} `json:"details"`
	}
	var text string
	if json.Unmarshal(envelope.Error, &text) == nil && text != "" {
		p.message = text
	} else {
		// Details of another shape than Google's are ignored.
		_ = json.Unmarshal(envelope.Error, &inner)
	}
	p.object = len(list) < 2 && inner.Message != "" && cmp.Or(inner.Type, inner.Code, inner.Status) != ""
	p.code = string(cmp.Or(inner.Code, envelope.Code))
	p.kind = string(cmp.Or(inner.Type, inner.Status, envelope.Type))
	p.message = string(cmp.Or(flexible(p.message), inner.Message, envelope.Message, envelope.Detail))
	p.message = strings.TrimSpace(p.message + " " + string(inner.Metadata.Raw)) // OpenRouter: the message of the vendor behind it
	p.flagged = len(inner.Metadata.Reasons) > 0
	for _, d := range inner.Details {
		if delay, err := time.ParseDuration(string(d.RetryDelay)); err == nil {
			p.wait = clampWait(delay)
		}
		for _, v := range d.Violations {
			p.quotaIDs = append(p.quotaIDs, string(v.QuotaID))
		}
	}
	p.message = p.message[:min(len(p.message), maxMessage)]
	if p.status == http.StatusOK {
		p.status = p.statusInBody()
	}
	return p
}

// statusWords are the statuses that errors name by a word, in lower case.
var statusWords = map[string]int{
	"invalid_request_error": 400, "invalid_argument": 400, "failed_precondition": 400,
	"authentication_error": 401, "unauthenticated": 401, "invalid_api_key": 401,
	"billing_error": 402, "insufficient_quota": 402, "permission_error": 403, "permission_denied": 403,
	"not_found_error": 404, "not_found": 404, "model_not_found": 404, "request_too_large": 413,
	"rate_limit_error": 429, "rate_limit_exceeded": 429, "resource_exhausted": 429,
}

// statusInBody returns the status that corresponds to an error in the body of an answer whose own
// status was a success; 500 where nothing tells which.
func (p problem) statusInBody() int {
	if n, err := strconv.Atoi(p.code); err == nil && n >= 400 && n < 600 {
		return n
	}
	for _, word := range []string{p.kind, p.code} {
		if status, ok := statusWords[strings.ToLower(word)]; ok {
			return status
		}
	}
	if ErrorInText(p.message) == memory.ClassQuota {
		return http.StatusPaymentRequired
	}
	return http.StatusInternalServerError
}

// class returns the class of a problem by its status, with the vendors' exceptions: ClassGarbage,
// which speaks of this request alone, for a status that is not known.
func (p problem) class() memory.ErrorClass {
	said := strings.ToLower(p.message + " " + p.code + " " + p.kind)
	switch {
	case text.ContainsAny(said, tooLongWords...), p.code == "511", p.status == http.StatusRequestEntityTooLarge:
		return memory.ClassPromptTooLong
	case p.status == http.StatusPaymentRequired:
		return memory.ClassQuota
	case p.status == http.StatusTooManyRequests: // a limit that passes within minutes, or not
		if strings.Contains(strings.Join(p.quotaIDs, " "), "PerDay") || len(p.quotaIDs) == 0 && text.ContainsAny(said, quotaWords...) {
			return memory.ClassQuota
		}
		return memory.ClassRateLimit
	case p.status >= 500, p.status == http.StatusRequestTimeout, p.status == http.StatusConflict, p.status == http.StatusTooEarly:
		// A 511 without the code comes from a network with a login page.
		return memory.ClassTransient
	case p.status == http.StatusForbidden && (p.flagged || strings.Contains(said, "moderation")):
		return memory.ClassGarbage // the events are the cause
	case text.ContainsAny(said, quotaWords...):
		return memory.ClassQuota
	case p.status == http.StatusUnauthorized, p.status == http.StatusForbidden, text.ContainsAny(said, loginWords...):
		return memory.ClassLogin
	case p.status == http.StatusNotFound, p.status == http.StatusGone, p.status == http.StatusMethodNotAllowed, p.status < 400:
		// A wrong model or base URL, or a redirect: a setting is wrong, not the
		// events.
		return memory.ClassLogin
	}
	return memory.ClassGarbage
}

// Words in the vendors' messages, in lower case, from their documentation and from
// reports of users.
var (
	tooLongWords = []string{
		"prompt is too long", "prompt too long", "exceed context limit", // Anthropic
		"context_length_exceeded", "maximum context length", "string_above_max_length", "input tokens exceed the configured limit", // OpenAI, OpenRouter, vLLM
		"request too large for",                                                                                                      // OpenAI, Groq: over the tokens of a minute even alone
		"input token count",                                                                                                          // Gemini
		"exceeds the available context size", "exceed_context_size", "exceeds maximum context length", "exceeded max context length", // llama.cpp, Ollama
		"maximum model length", "prompt token count", "prompt exceeds max length", "promptexceedmaxtokens", "request_too_large",
	}
	quotaWords = []string{
		"insufficient_quota", "insufficient quota", "insufficient credit", "insufficient balance", "insufficient funds", "exceeded_current_quota",
		"credit balance is too low", "exceeded your current quota", "billing_hard_limit", "billing hard limit", "billing_not_active", "billing_error",
		"not enough credits", "requires more credits", "out of credits", "payment required", "specified api usage limits", "usage limit reached",
		"spending limit", "spend limit", "key limit exceeded", "free-models-per-day",
	}
	loginWords = []string{
		"api key not valid", "api_key_invalid", "invalid api key", "invalid x-api-key", "incorrect api key", "invalid_api_key", "api key expired",
		"authentication_error", "model_not_found", "not a valid model", "model not found", "unsupported_country", "location is not supported",
	}
)

// maxErrorText bounds an answer that is nothing but an error, in characters. The
// longest known one has 260.
const maxErrorText = 400

// errorText lists the beginnings of answers that are errors in plain words. An
// observation must not begin with any of them: an observation about quotas must
// not stop the queue.
var errorText = sync.OnceValue(func() []errorBeginning {
	return []errorBeginning{
		{memory.ClassQuota, regexp.MustCompile(`(?i)^(` +
			`(your )?credit balance is too low|` +
			`claude (ai |code )?usage limit reached\b|` +
			`you(['’]ve| have) (hit|reached) your ([a-z0-9-]+ ){0,3}(usage |rate |spend(ing)? )?limits?\b|` +
			`you have reached your specified api usage limits|` +
			`(5-hour|weekly|daily|monthly|session|opus) (usage )?limit reached\b|` +
			`you exceeded your current quota|` +
			`insufficient[_ ](quota|credits?|balance|funds)\b.{0,200}$|` +
			`this request requires more credits|` +
			`you(['’]re| are) out of (extra usage|credits)|` +
			`quota exceeded (for|\()|` +
			`((your|the) )?([a-z0-9-]+ ){0,3}quota (is |has been |was )?(exhausted|exceeded|used up|depleted)[.!]?$|` +
			`resource[ _](has been )?exhausted\b.{0,120}$|` +
			`(you have )?no (more )?(credits?|quota) (left|remaining)[.!]?$` +
			`)`)},
		{memory.ClassLogin, regexp.MustCompile(`(?i)^(` +
			`invalid api key\b|incorrect api key provided|not logged in\b.{0,40}/login|please run /login|` +
			`oauth (token|session) (has )?(expired|been revoked)|oauth token revoked|` +
			`your account does not have access to claude|this organization has been disabled|` +
			`api key not valid|failed to authenticate\b[.:]|.{0,120}\bplease run /login[.!]?$|` +
			`(session|login|credentials?|(access |security )?tokens?) (has |have )?expired([ ]?[.!·,:;-].{0,80})?$|` +
			`(accessdenied|expiredtoken|unrecognizedclient|invalidsignature)exception\b|permission_denied\b|unauthenticated[.!:]?$|` +
			`(unauthori[sz]ed|forbidden|access denied|permission denied|login required)[.!]?$|` +
			`(authentication|authorization) (failed|required|error)[.!:]?$|` +
			`(missing|invalid|no) (api key|authentication|authorization|credentials|bearer token)( (provided|header|token|given|found))?[.!]?$` +
			`)`)},
		{memory.ClassRateLimit, regexp.MustCompile(`(?i)^(` +
			`rate limit (reached|exceeded) for .{1,120}\b(tpm|rpm|tpd|rpd|per min|per day|organization)|` +
			`this request would exceed (your|the) (organization|account)['’]s .{0,40}rate limit|` +
			`(429 )?too many requests[.!]?$|rate limit exceeded[.!]?$|throttlingexception\b|` +
			`(too many requests|rate limit(ed| exceeded| reached))[.,:;!]? (please )?(try|retry|slow|wait)\b.{0,80}$` +
			`)`)},
		{memory.ClassPromptTooLong, regexp.MustCompile(`(?i)^(` +
			`prompt is too long(: [0-9]+ tokens|[.!]?$)|` +
			`this (model|endpoint)['’]s maximum context length is|` +
			`input length and .?max_tokens.? exceed context limit` +
			`)`)},
		{memory.ClassTransient, regexp.MustCompile(`(?i)^(` +
			`overloaded[.!]?$|overloaded_error|` +
			`(the )?(model|server|service) is (currently |temporarily )?(overloaded|unavailable)\b.{0,80}$|` +
			`internal server error[.!]?$|(502 )?bad gateway[.!]?$|(503 )?service (temporarily )?unavailable[.!]?$|` +
			`serviceunavailableexception\b|(504 )?gateway time-?out[.!]?$|upstream (connect|request) (error|timeout)\b.{0,120}$|no healthy upstream$|` +
			`request timed out[.!]?$|connection (error|refused|reset)[.!]?$|fetch failed[.!]?$|socket hang up[.!]?$` +
			`)`)},
	}
})

// errorBeginning is a pattern of them; they are large, and compiled when the first answer comes.
type errorBeginning struct {
	class memory.ErrorClass
	begin *regexp.Regexp
}

// apiError matches the beginning of the claude CLI's message about a failed call,
// with or without the HTTP status.
var apiError = regexp.MustCompile(`(?i)^(⚠️? ?)?api error(?:: | \()?([0-9]{3})?`)

// statusLine matches an answer that is an HTTP status, as gateways and clients write it:
// "401 Unauthorized", "HTTP 503", "Error code: 429 - {…}", "Request failed with status
// code 401".
var statusLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:` +
		`(?:http(?:/[0-9.]+)? ?(?:error |status )?|error(?: code)?:? |status(?: code)?:? )([45][0-9]{2})(?:[ :.,-].{0,300})?$|` +
		`(?:the )?(?:api |http )?(?:request|call) failed with (?:http )?status(?: code)?:? ([45][0-9]{2})\b.{0,300}$|` +
		`([45][0-9]{2})[ :-]+(?:client error:? |server error:? )?(?:unauthori[sz]ed|forbidden|payment required|too many requests|not found|bad request|` +
		`internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|request time-?out|overloaded)\b.{0,300}$` +
		`)`)
})

// webPage matches the beginning of an HTML document: a proxy's error or a login page.
var webPage = regexp.MustCompile(`(?i)^(<\?xml[^>]{0,200}\?>\s*)?<(!doctype html|html)\b`)

// pageTitle matches a page's title or first heading.
var pageTitle = regexp.MustCompile(`(?is)<(?:title|h1)\b[^>]{0,200}>\s*(.{1,200}?)\s*</`)

// titleStatus matches a title that begins with an HTTP status.
var titleStatus = regexp.MustCompile(`(?i)^(?:error |http )?([45][0-9]{2})\b`)

// loginPage matches the title of a page that asks for a login.
var loginPage = regexp.MustCompile(`(?i)\b(log ?[io]n|sign[ -]?in|single sign-on|authenticat\w+|captive portal|access denied)\b`)

// maxPage bounds the part of a web page that is examined, in bytes.
const maxPage = 16 << 10

// ErrorInText returns the class of the error that text is, which a provider gave as its
// answer; "" if it is none. It is conservative: text with an element of an observer's
// answer is no error, nor is long text or text that only mentions quotas and
// limits.
func ErrorInText(text string) memory.ErrorClass {
	text = strings.TrimSpace(text)
	if webPage.MatchString(text[:min(len(text), maxPage)]) {
		return errorOfPage(text[:min(len(text), maxPage)])
	}
	if text == "" || len(text) > 4*maxErrorText || holdsElement(text) {
		return ""
	}
	if class := errorInJSON(text); class != "" || utf8.RuneCountInString(text) > maxErrorText {
		return class
	}
	if m := apiError.FindStringSubmatch(text); m != nil {
		return errorOfCLI(m[2], strings.TrimLeft(text[len(m[0]):], " :)·-"))
	}
	text = strings.Trim(text, "*_`\"")
	bare := text
	for _, prefix := range []string{"error: ", "Error: ", "⚠ ", "⚠️ "} {
		bare = strings.TrimPrefix(bare, prefix)
	}
	return cmp.Or(errorOfStatus(text), errorOfStatus(bare), errorInWords(bare))
}

// errorOfStatus classifies a text that is an HTTP status and what belongs to it; "" for another
// text.
func errorOfStatus(text string) memory.ErrorClass {
	m := statusLine().FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	status, _ := strconv.Atoi(cmp.Or(m[1], m[2], m[3])) // three digits
	return bodyClass(status, text)
}

// bodyClass returns the class of an answer with status, whose body is the JSON in text.
func bodyClass(status int, text string) memory.ErrorClass {
	return parseProblem(status, []byte(text[max(0, strings.IndexByte(text, '{')):])).class()
}

// errorOfPage classifies a web page by its title; one whose title says nothing is transient. For a
// page that holds observations it returns "": that is an answer.
func errorOfPage(page string) memory.ErrorClass {
	if text.ContainsAny(strings.ToLower(page), "<observation", "<learning", "<skip_summary") {
		return ""
	}
	for _, m := range pageTitle.FindAllStringSubmatch(page, 4) {
		if status := titleStatus.FindStringSubmatch(m[1]); status != nil {
			n, _ := strconv.Atoi(status[1])
			return problem{status: n, message: m[1]}.class()
		}
		if loginPage.MatchString(m[1]) {
			return memory.ClassLogin
		}
	}
	return memory.ClassTransient
}

// errorInWords recognises an error by the beginning of an answer; "" for none.
func errorInWords(said string) memory.ErrorClass {
	for _, e := range errorText() {
		if e.begin.MatchString(said) {
			return e.class
		}
	}
	return ""
}

// errorOfCLI classifies the text behind "API Error"; "" if it is no error's.
func errorOfCLI(status, rest string) memory.ErrorClass {
	if n, err := strconv.Atoi(status); err == nil && n >= 400 && n < 600 {
		return bodyClass(n, rest)
	}
	// "API Error handling was added" is prose. With a colon and few words it is the
	// CLI's message about a connection.
	class := cmp.Or(errorInJSON(rest), errorInWords(rest))
	first, _ := utf8.DecodeRuneInString(rest)
	if class == "" && unicode.IsUpper(first) && len(rest) < 120 && text.ContainsAny(strings.ToLower(rest), "timed out", "connection", "overloaded", "unable to connect", "fetch failed", "socket") {
		return memory.ClassTransient
	}
	return class
}

// errorInJSON classifies a text that is an API's error object and nothing else; ""
// for other texts.
func errorInJSON(text string) memory.ErrorClass {
	if p := parseProblem(http.StatusOK, []byte(text)); p.object {
		return p.class()
	}
	return ""
}

// elements are the beginnings of the elements in an observer's answer.
var elements = []string{"<observation", "<summary", "<skip_summary", "<learning", "<title", "<narrative", "<facts", "<request", "<completed"}

// holdsElement reports whether a text has an element of the answer that an observer is asked for.
func holdsElement(s string) bool { return text.ContainsAny(strings.ToLower(s), elements...) }

// flexible is a string that may come as a number; anything else becomes "".
type flexible string

// UnmarshalJSON never fails: it takes a text or a number, and leaves f as it is for anything else.
func (f *flexible) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*f = flexible(s)
	} else if len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') {
		*f = flexible(b)
	}
	return nil
}

// keyLike matches texts that look like a key, because vendors quote the key that
// they refuse: known prefixes, any word of 32 characters or more, a user in a URL,
// and the value after "key=" and similar names.
var keyLike = regexp.MustCompile(`\b(sk|gsk|xai|pk|rk)[-_][A-Za-z0-9_*.-]{4,}|\bAIza[A-Za-z0-9_*-]{6,}|(?i:bearer )[A-Za-z0-9._~+/*=-]{8,}|[A-Za-z0-9_]{32,}` +
	`|://[^/\s@]+@|(?i:(key|token|secret|password)["']?[=:]\s*["']?)[A-Za-z0-9._~+/*-]{8,}`)

// maxDetail bounds how much of a foreign text goes into an error, in runes.
const maxDetail = 300

// Clean returns foreign text in a form fit for an error and a log: one line,
// valid UTF-8, at most 300 characters, without the given secrets and without
// anything that looks like a key.
func Clean(foreign string, secrets ...string) string {
	// Shortened before the work. A key at the end of this part is not shown: the
	// final limit is far before it.
	foreign = strings.ToValidUTF8(text.FirstBytes(foreign, 16*maxDetail), "\uFFFD")
	for _, secret := range secrets {
		if secret != "" {
			foreign = strings.ReplaceAll(foreign, secret, "[redacted]")
		}
	}
	return text.TruncateRunes(text.TerminalLine(keyLike.ReplaceAllString(foreign, "[redacted]")), maxDetail)
}

// maxWait bounds the wait that a provider may ask for: within a day all known
// limits are renewed.
const maxWait = 24 * time.Hour

// RetryAfter returns how long an answer asks to wait before the next request: its
// retry-after-ms, else its Retry-After in seconds or as an HTTP date (RFC 9110, 10.2.3).
// 0 when it does not say, says something unreadable or a moment that has passed; never
// above 24 hours.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	if wait, ok := waitOf(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	value := header.Get("Retry-After")
	if wait, ok := waitOf(value, time.Second); ok {
		return wait
	}
	if at, err := http.ParseTime(strings.TrimSpace(value)); err == nil {
		return clampWait(at.Sub(now))
	}
	return 0
}

// waitOf parses a number of units as a time to wait, at most maxWait; false for no
// number.
func waitOf(value string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil && !math.IsInf(n, 1) || math.IsNaN(n) { // infinite is also a number too large for a float
		return 0, false
	}
	// Compared as numbers: a huge one would overflow a Duration.
	return time.Duration(max(0, min(n*float64(unit), float64(maxWait)))), true
}

// clampWait returns a wait between 0 and maxWait.
func clampWait(d time.Duration) time.Duration { return min(max(d, 0), maxWait) }
