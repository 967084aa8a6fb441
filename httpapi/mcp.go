package httpapi

import (
	"bytes"
	"io"
	"net/http"
)

// pathMCP is where hosts reach the MCP server.
const pathMCP = "/mcp"

// serveMCP hands a request on to the MCP server, within the limits of every other
// route: the guard is before it, a body is JSON and is read whole and bounded.
func (a *server) serveMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		a.MCP.ServeHTTP(w, r) // which says what is allowed
		return
	}
	err := checkRoute(r, route{method: r.Method, path: pathMCP})
	if err == nil {
		err = a.withBody(w, r, func(body []byte) error {
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
