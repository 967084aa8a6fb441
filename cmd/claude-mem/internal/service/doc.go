// Package service has the commands that start and stop a worker and show what it serves:
// worker, open and demo.
package service

import "claudemem/cmd/claude-mem/internal/cli"

// Verbs are the commands of this package.
type Verbs struct{ *cli.App }
