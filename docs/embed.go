// Package docs has the pages that the program itself shows.
package docs

import _ "embed"

// CommandLine is cli.md: what each command prints with --json.
//
//go:embed cli.md
var CommandLine string
