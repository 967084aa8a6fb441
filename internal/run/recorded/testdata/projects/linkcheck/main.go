// Command linkcheck reports broken relative links in Markdown files.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var linkRE = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)

// Link is one link and where it stands.
type Link struct {
	File   string
	Line   int
	Target string
}

// Links returns the links of a Markdown text.
func Links(file, text string) []Link {
	var out []Link
	for i, line := range strings.Split(text, "\n") {
		for _, m := range linkRE.FindAllStringSubmatch(line, -1) {
			out = append(out, Link{File: file, Line: i + 1, Target: m[1]})
		}
	}
	return out
}

// Broken tells whether the file that a link points to is missing.
func Broken(l Link) bool {
	if strings.Contains(l.Target, ":") || strings.HasPrefix(l.Target, "#") {
		return false
	}
	target, _, _ := strings.Cut(l.Target, "#")
	_, err := os.Stat(filepath.Join(filepath.Dir(l.File), target))
	return err != nil
}

func main() {
	bad := 0
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		for _, l := range Links(file, string(text)) {
			if Broken(l) {
				bad++
				fmt.Printf("%s:%d: %s: no such file\n", l.File, l.Line, l.Target)
			}
		}
	}
	if bad > 0 {
		os.Exit(1)
	}
}
