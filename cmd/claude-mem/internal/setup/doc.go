// Package setup has the commands that bring claude-mem into agents and out again, and those
// that look after it there: install, uninstall, doctor, and the import of older settings.
package setup

import (
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/transfer"
)

// Verbs are the commands of this package.
type Verbs struct{ *cli.App }

// transfers returns the commands that an install offers.
func (a *Verbs) transfers() *transfer.Verbs { return &transfer.Verbs{App: a.App} }
