package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/proof/eval/clones"
)

//go:embed repositories.txt
var repositoriesText string

// A repository is one whose files of a language are compared.
type repository struct{ language, name, commit string }

// parseRepositories reads the form of repositories.txt.
func parseRepositories(text string) ([]repository, error) {
	var all []repository
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 || extensions[fields[0]] == nil {
			return nil, fmt.Errorf("line %d of the repositories: want LANGUAGE REPOSITORY COMMIT, got %q", n, lines.Text())
		}
		all = append(all, repository{fields[0], fields[1], fields[2]})
	}
	return all, lines.Err()
}

// allLanguages in the order of the table.
var allLanguages = []string{"go", "typescript", "javascript", "python", "rust", "java", "kotlin", "c", "cpp", "csharp", "ruby", "php", "swift"}

// extensions of the files of each language.
var extensions = map[string][]string{
	"go": {".go"}, "typescript": {".ts", ".mts", ".cts", ".tsx"}, "javascript": {".js", ".mjs", ".cjs", ".jsx"},
	"python": {".py"}, "rust": {".rs"}, "java": {".java"}, "kotlin": {".kt"}, "c": {".c", ".h"},
	"cpp": {".cc", ".cpp", ".cxx", ".hpp", ".hh", ".h"}, "csharp": {".cs"}, "ruby": {".rb"}, "php": {".php"}, "swift": {".swift"},
}

// maxSource bounds the files that are compared, in bytes: larger ones are generated.
const maxSource = 400 << 10

// sourcesOf writes the files of a language at the commits of the list below dir and returns
// their paths.
func sourcesOf(ctx context.Context, o options, language, dir string) ([]string, error) {
	list := repositoriesText
	if o.list != "" {
		text, err := os.ReadFile(o.list)
		if err != nil {
			return nil, err
		}
		list = string(text)
	}
	repositories, err := parseRepositories(list)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, r := range repositories {
		if r.language != language {
			continue
		}
		got, err := checkout(ctx, o.clones, r, filepath.Join(dir, language, strings.ReplaceAll(r.name, "/", "+")))
		if err != nil {
			return nil, err
		}
		files = append(files, got...)
	}
	return files, nil
}

// checkout writes the files of a repository's language below dir.
func checkout(ctx context.Context, clonesDir string, r repository, dir string) (files []string, err error) {
	clone, err := clones.Open(ctx, clonesDir, r.name)
	if err != nil {
		return nil, err
	}
	defer clone.Close()
	keep := func(file string) bool {
		minified := strings.Contains(file, ".min.")
		return slices.Contains(extensions[r.language], path.Ext(file)) && !minified && !strings.ContainsAny(file, "\n\"")
	}
	err = clone.Files(ctx, r.commit, keep, func(file string, content []byte) error {
		if len(content) > maxSource {
			return nil
		}
		to := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		files = append(files, to)
		return os.WriteFile(to, content, 0o600)
	})
	if err != nil {
		return nil, fmt.Errorf("%s at %.12s: %w", r.name, r.commit, err)
	}
	return files, nil
}
