//go:build !unix

package hook

import (
	"io"
	"os"
)

// stdout is standard output; only Unix systems have a SIGPIPE.
var stdout io.Writer = os.Stdout
