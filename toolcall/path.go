package toolcall

import (
	"path"
	"slices"
	"strings"
)

// FileKind says what a file is to the work.
type FileKind int

const (
	FileCode FileKind = iota
	FileTest
	FileDoc
	FileConfig
	// FileManifest names dependencies; FileLock only repeats a manifest.
	FileManifest
	FileLock
)

var (
	manifests    = set("go.mod package.json cargo.toml pyproject.toml requirements.txt setup.py setup.cfg pipfile gemfile pom.xml build.gradle build.gradle.kts composer.json mix.exs deno.json")
	lockFiles    = set("go.sum package-lock.json yarn.lock pnpm-lock.yaml cargo.lock poetry.lock uv.lock pipfile.lock gemfile.lock composer.lock bun.lockb bun.lock mix.lock")
	configFiles  = set("makefile dockerfile justfile .gitignore .dockerignore .editorconfig .gitattributes")
	configSuffix = set(".json .yaml .yml .toml .ini .cfg .conf .env .properties .xml .lock .tf .tfvars .plist")
	docFiles     = set("readme changelog license notice contributing authors")
	docSuffix    = set(".md .mdx .rst .adoc .txt .org .tex")
	testDirs     = set("test tests __tests__ spec testdata e2e")
	testStems    = set("test tests conftest")
	testOfClass  = set(".java .kt .cs .swift") // where a test is called CartTest
)

// KindOfFile returns what the file at a path is to the work, by its name.
func KindOfFile(p string) FileKind {
	p = lower(p)
	base := path.Base(p)
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch {
	case manifests[base], strings.HasPrefix(base, "requirements") && ext == ".txt":
		return FileManifest
	case lockFiles[base]:
		return FileLock
	case configFiles[base]:
		return FileConfig
	case docFiles[base], docSuffix[ext]:
		return FileDoc
	case configSuffix[ext]:
		return FileConfig
	case testStems[stem], strings.HasPrefix(stem, "test_"), testOfClass[ext] && (strings.HasSuffix(stem, "test") || strings.HasSuffix(stem, "tests")):
		return FileTest
	}
	for _, suffix := range []string{"_test", ".test", ".spec", "_spec"} {
		if strings.HasSuffix(stem, suffix) {
			return FileTest
		}
	}
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		if testDirs[dir] {
			return FileTest
		}
	}
	return FileCode
}

// Relative returns a path as the memory stores it: relative to the first of the roots
// that it is in, with '/', else absolute. inside is also true when no root is known.
func Relative(p, cwd string, roots ...string) (rel string, inside bool) {
	p = slashed(p)
	if p == "" {
		return "", false
	}
	if !absolute(p) {
		if cwd = slashed(cwd); cwd == "" {
			return path.Clean(p), true
		}
		p = path.Join(cwd, p)
	}
	p = path.Clean(p)
	known := false
	for _, root := range roots {
		if root = strings.TrimRight(slashed(root), "/"); root == "" {
			continue
		}
		known = true
		if len(p) > len(root) && p[len(root)] == '/' && (p[:len(root)] == root || root[0] != '/' && strings.EqualFold(p[:len(root)], root)) {
			return p[len(root)+1:], true
		}
	}
	return p, !known
}

// slashed returns a Windows path with '/'.
func slashed(p string) string {
	if len(p) > 2 && p[1] == ':' && isLetter(p[0]) || strings.HasPrefix(p, `\\`) || !strings.Contains(p, "/") {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/' && isLetter(p[0])
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isIdent(c byte) bool { return isLetter(c) || c == '_' || isDigit(c) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// lower maps the ASCII letters only, so that offsets into the result are offsets into s.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// firstOf returns the first element, "" for an empty list.
func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// add appends the items that are not in the list yet.
func add(list []string, items ...string) []string {
	for _, item := range items {
		if item != "" && !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}
