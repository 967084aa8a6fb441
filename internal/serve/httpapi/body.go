package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

const (
	// smallBody is the largest body, in bytes, that is read without taking a place of
	// maxLarge. The median tool event has 2 KB; those with a whole file rarely over 200 KB.
	smallBody = 1 << 20
	// maxTokens bounds the keys, values and brackets of a body: each may be redacted by
	// itself, which takes some microseconds. A hook sends at most 1 MB in lists.
	maxTokens = 400_000
	// maxLarge bounds the larger bodies in memory at one time: 64 MB in all.
	maxLarge = 4
	// largeTime bounds the wait of a large body for its place, and then its arrival. On
	// the loopback interface 16 MB take a few milliseconds; a client that needs seconds
	// must not block others.
	largeTime = 5 * time.Second
)

// bodies are buffers for reading requests. Decoding copies, so that they can be reused.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// withBody reads the whole body and calls use with it; use must not keep it. CodeTooLarge
// above MaxBody; CodeUnavailable when too many large bodies are being read.
func (a *server) withBody(w http.ResponseWriter, r *http.Request, use func([]byte) error) error {
	if r.ContentLength > a.opts.MaxBody {
		return a.tooLarge()
	}
	b := bodies.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= smallBody { // larger buffers are freed
			b.Reset()
			bodies.Put(b)
		}
	}()
	limited := http.MaxBytesReader(w, r.Body, a.opts.MaxBody)
	n, err := b.ReadFrom(io.LimitReader(limited, smallBody))
	if err == nil && n == smallBody {
		var leave func()
		if leave, err = a.acquireLarge(w, r); err == nil {
			defer leave()
			_, err = b.ReadFrom(limited)
		}
	}
	if err != nil {
		return a.bodyError(err)
	}
	if tokens := 0; b.Len() > maxTokens {
		jsonscan.Tokens(b.Bytes(), func(byte, int, int) { tokens++ })
		if tokens > maxTokens {
			return memory.Errorf(memory.CodeTooLarge, "the body has more than %d keys and values", maxTokens).WithHint("send it in parts")
		}
	}
	return use(b.Bytes())
}

// acquireLarge waits for a place for a large body, at most largeTime, and limits the time
// of reading it. leave frees the place; it is nil with an error: CodeUnavailable if none became
// free.
func (a *server) acquireLarge(w http.ResponseWriter, r *http.Request) (leave func(), err error) {
	wait := time.NewTimer(largeTime + a.opts.Slack)
	defer wait.Stop()
	select {
	case a.large <- struct{}{}:
	case <-wait.C:
		return nil, memory.Errorf(memory.CodeUnavailable, "too many large bodies at once").WithHint("try again")
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	// Ignored: httptest recorders have no deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(largeTime + a.opts.Slack))
	return func() { <-a.large }, nil
}

func (a *server) tooLarge() error {
	return memory.Errorf(memory.CodeTooLarge, "the body is larger than %d bytes", a.opts.MaxBody).
		WithHint("truncate long fields to their beginning and end")
}

// bodyError returns err, from reading a body, as an error for the client: too large, one
// with a code of its own, else CodeInvalid for a body that ended early.
func (a *server) bodyError(err error) error {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return a.tooLarge()
	case errors.As(err, new(*memory.Error)):
		return err
	default:
		return memory.Errorf(memory.CodeInvalid, "the body did not arrive whole").WithHint("send Content-Length, and the body at once")
	}
}

// decode decodes a JSON body into v. The error is CodeInvalid and names the field or
// byte that is wrong.
func decode(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	if err == nil {
		return nil
	}
	bad := memory.Errorf(memory.CodeInvalid, "the body is not valid JSON").WithHint("send one JSON object")
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	var known *memory.Error
	switch {
	case errors.As(err, &known):
		return known
	case len(bytes.TrimSpace(body)) == 0:
		bad.Message = "the body is empty"
	case errors.As(err, &syntax):
		bad.Message = fmt.Sprintf("the body is not valid JSON: at byte %d: %s", syntax.Offset, syntax)
	case errors.As(err, &wrongType) && wrongType.Field == "":
		bad.Message = "the body is a JSON " + wrongType.Value + ", not an object"
	case errors.As(err, &wrongType):
		bad.Message = fmt.Sprintf("field %s: got a JSON %s", jsonPath(wrongType.Field), wrongType.Value)
		bad.Hint = "want " + cmp.Or(wanted[wrongType.Type.Kind()], "a "+wrongType.Type.Kind().String())
	}
	return bad
}

// jsonPath returns the path of a field as the client wrote it: encoding/json puts the
// names of embedded types between the names of members. Those begin with a capital
// letter, the names of members here do not.
func jsonPath(path string) string {
	names := slices.DeleteFunc(strings.Split(path, "."), func(name string) bool {
		return name != "" && name[0] >= 'A' && name[0] <= 'Z'
	})
	return strings.Join(names, ".")
}

// wanted has the JSON types for Go kinds whose names say something else.
var wanted = map[reflect.Kind]string{
	reflect.Int64: wholeNumber, reflect.Int: wholeNumber, reflect.Slice: "an array", reflect.Float64: "a number", reflect.Bool: "true or false",
}

const wholeNumber = "a whole number; times are Unix milliseconds"

// pathMCP is the path of the MCP server.
const pathMCP = "/mcp"

// maxCalls bounds the calls in one request: each may be a search.
const maxCalls = 100

// serveMCP passes a request, which the guard has let in, on to the MCP server. Of a POST it
// checks first that the body is JSON of at most MaxBody bytes, as other routes do; other
// methods are passed on as they are.
func (a *server) serveMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		a.MCP.ServeHTTP(w, r) // it answers which methods are allowed
		return
	}
	err := checkRoute(r, route{method: r.Method, path: pathMCP})
	if err == nil {
		err = a.withBody(w, r, func(body []byte) error {
			var batch []json.RawMessage
			if json.Unmarshal(body, &batch) == nil && len(batch) > maxCalls {
				return memory.Errorf(memory.CodeTooLarge, "%d calls in one request", len(batch)).WithHint(fmt.Sprintf("send at most %d", maxCalls))
			}
			whole := r.Clone(r.Context())
			whole.Body, whole.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			a.MCP.ServeHTTP(w, whole)
			return nil
		})
	}
	if err != nil {
		a.fail(w, r, err)
	}
}
