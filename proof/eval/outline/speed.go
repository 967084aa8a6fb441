package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"claudemem/internal/capture/outline"
)

// The bars of the speed.
const (
	leastSpeed = 20.0 // MB/s over all files of a language
	largeFile  = 5 << 20
	mostLarge  = time.Second // a file of largeFile bytes
	rounds     = 3           // the fastest counts: a loaded machine is slower, never faster
)

// measureSpeed prints for each language how fast its files are read, and how long one
// file of 5 MB takes that consists of them.
func measureSpeed(ctx context.Context, o options, work string) error {
	missed := false
	for _, language := range o.languages {
		files, err := sourcesOf(ctx, o, language, work)
		if err != nil {
			return fmt.Errorf("%s: %w", language, err)
		}
		sources := make([]source, 0, len(files))
		size := 0
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			sources = append(sources, source{file, content})
			size += len(content)
		}
		all := fastest(func() {
			for _, s := range sources {
				outline.Of(s.name, s.content)
			}
		})
		large := joined(language, sources)
		one := fastest(func() { outline.Of(large.name, large.content) })
		speed := float64(size) / 1e6 / all.Seconds()
		verdict := "met"
		if speed < leastSpeed || one > mostLarge {
			verdict, missed = "missed", true
		}
		fmt.Printf("bar %s: %-10s %5.1f MB/s of at least %.0f over %.1f MB; one file of %.1f MB in %.2f s of at most %.0f\n",
			verdict, language, speed, leastSpeed, float64(size)/1e6, float64(len(large.content))/1e6, one.Seconds(), mostLarge.Seconds())
	}
	if missed {
		return errMissed
	}
	return nil
}

type source struct {
	name    string
	content []byte
}

// fastest returns the shortest time that work takes.
func fastest(work func()) time.Duration {
	best := time.Duration(0)
	for range rounds {
		start := time.Now()
		work()
		if took := time.Since(start); best == 0 || took < best {
			best = took
		}
	}
	return best
}

// joined returns one source of at least largeFile bytes that consists of others, repeated
// if need be, and parses like them.
func joined(language string, sources []source) source {
	var all []byte
	if language == "go" {
		all = []byte("package a\n")
	}
	for len(all) < largeFile && len(sources) > 0 {
		for _, s := range sources {
			if len(all) >= largeFile {
				break
			}
			all = append(append(all, joinable(language, s)...), '\n')
		}
	}
	name := sources[slices.IndexFunc(sources, func(s source) bool { return !strings.HasSuffix(s.name, ".h") })].name
	return source{"large" + path.Ext(name), all}
}

// joinable returns what of a source may stand behind another one: of Go the functions
// and types without package clause and imports, of PHP all with its end tag, of Ruby what
// stands before its data.
func joinable(language string, s source) []byte {
	switch language {
	case "go":
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "", s.content, parser.SkipObjectResolution)
		if err != nil {
			return nil
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			return s.content[set.PositionFor(d.Pos(), false).Offset:]
		}
		return nil
	case "ruby": // what follows the mark is data
		code, _, _ := strings.Cut(string(s.content), "\n__END__")
		return []byte(code)
	case "php":
		if strings.LastIndex(string(s.content), "<?") > strings.LastIndex(string(s.content), "?>") {
			return append(slices.Clone(s.content), "\n?>"...)
		}
	}
	return s.content
}
