package words

import (
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// PathForm returns the form in which paths and the names of projects are compared: with / between
// segments, in lower case, and with composed letters, which macOS takes apart.
func PathForm(path string) string {
	composed := norm.NFC.String(strings.ReplaceAll(path, `\`, "/"))
	return norm.NFC.String(strings.ToLower(composed)) // again: there is an ǰ, but no capital of it
}

// PathPart returns the form of a part of a path that somebody typed: a path has the part if its
// form contains it. A slash at the end stays, since it means a folder. Nothing has the part ".".
func PathPart(typed string) string {
	form := PathForm(typed)
	switch part := path.Clean(form); {
	case part == "/":
		return "."
	case strings.HasSuffix(form, "/"):
		return part + "/"
	default:
		return part
	}
}
