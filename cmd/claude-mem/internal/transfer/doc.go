// Package transfer has the commands that copy a memory as a whole: export, import (of exports,
// of claude-mem for Node, of transcripts), backup and restore.
package transfer

import "claudemem/cmd/claude-mem/internal/cli"

// Verbs are the commands of this package.
type Verbs struct{ *cli.App }
