package text

import (
	"regexp"
	"strings"
)

var (
	// filePath is a path of at least two folders, or of one and a file with an
	// extension; it may end in a line and a column.
	filePath = regexp.MustCompile(`[\w.@~+-]*(?:[/\\]+[\w.@+-]+)+(?::\d+)*`)
	// fileEnd is a file's extension and a place in the file.
	fileEnd = regexp.MustCompile(`^(\.?[\w@+-][\w.@+-]*?)\.[A-Za-z][A-Za-z0-9]{0,9}(?::\d+)*$`)
	// packageOf is a qualifier of at least two packages before a type.
	packageOf = regexp.MustCompile(`\b(?:[a-z][a-z0-9_]*[.\\]){2,}([A-Z])`)
)

// LastNames shortens the paths and the types with packages in a text to their last names,
// "src/main/java/com/acme/Pdf.java:88" to "Pdf", "java.lang.Thread" to "Thread": many files
// of a project share their folders, packages and extensions. It does not change addresses,
// routes ("/api/users") and pairs of words ("read/write").
func LastNames(s string) string {
	if !strings.ContainsAny(s, `/\.`) {
		return s
	}
	s = filePath.ReplaceAllStringFunc(s, lastName)
	return packageOf.ReplaceAllString(s, "$1")
}

// lastName returns the last name of a path, which has a separator, without its extension; the path
// itself if it is an address, a route or a pair of words.
func lastName(path string) string {
	at := strings.LastIndexAny(path, `/\`)
	name := path[at+1:]
	folders := strings.Trim(path[:at], `/\.`)
	if strings.HasPrefix(path, "//") || folders == "" {
		return path
	}
	if end := fileEnd.FindStringSubmatch(name); end != nil {
		return end[1]
	}
	if strings.ContainsAny(path[:1], `/\`) || !strings.ContainsAny(folders, `/\`) {
		return path
	}
	return name
}
