package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"claudemem/internal/memory"
)

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
