package httpapi

import (
	"bytes"
	"io"
	"net/http"
)

// pathMCP is the path of the MCP server.
const pathMCP = "/mcp"

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
