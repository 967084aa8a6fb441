package toolcall

import (
	"path"
	"slices"
	"strings"

	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/text"
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
	manifests    = text.Set("go.mod package.json cargo.toml pyproject.toml requirements.txt setup.py setup.cfg pipfile gemfile pom.xml build.gradle build.gradle.kts composer.json mix.exs deno.json")
	lockFiles    = text.Set("go.sum package-lock.json yarn.lock pnpm-lock.yaml cargo.lock poetry.lock uv.lock pipfile.lock gemfile.lock composer.lock bun.lockb bun.lock mix.lock")
	configFiles  = text.Set("makefile dockerfile justfile .gitignore .dockerignore .editorconfig .gitattributes")
	configSuffix = text.Set(".json .yaml .yml .toml .ini .cfg .conf .env .properties .xml .lock .tf .tfvars .plist")
	docFiles     = text.Set("readme changelog license notice contributing authors")
	docSuffix    = text.Set(".md .mdx .rst .adoc .txt .org .tex")
	testDirs     = text.Set("test tests __tests__ spec testdata e2e")
	testStems    = text.Set("test tests conftest")
	testSuffixes = []string{"_test", ".test", ".spec", "_spec"}
	testOfClass  = text.Set(".java .kt .cs .swift") // where a test is called CartTest
)

// KindOfFile returns what the file at a path with '/' is to the work, by its name alone, in any
// letter case; FileCode for a name that says nothing.
func KindOfFile(p string) FileKind {
	p = text.LowerASCII(p)
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
	if slices.ContainsFunc(testSuffixes, func(suffix string) bool { return strings.HasSuffix(stem, suffix) }) ||
		slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(dir string) bool { return testDirs[dir] }) {
		return FileTest
	}
	return FileCode
}

// Relative returns a path as the memory stores it: relative to the first of the roots
// that it is in, with '/', else absolute. A relative path is taken from cwd, and stays relative
// without one. inside is also true when no root is known, and for a path that stays relative;
// false for "" and for a root itself. It follows no links.
func Relative(p, cwd string, roots ...string) (rel string, inside bool) {
	p = slashed(p)
	if p == "" {
		return "", false
	}
	if !absolute(p) {
		if cwd = slashed(cwd); cwd == "" {
			return path.Clean(p), true
		}
		p = cwd + "/" + p
	}
	known := false
	for _, root := range roots {
		if strings.Trim(root, `/\`) == "" {
			continue
		}
		known = true
		if rel, ok := repo.Within(root, p); ok && rel != "." {
			return rel, true
		}
	}
	return path.Clean(p), !known
}

// slashed returns a Windows path with '/'. A path that has '/' already keeps its backslashes, which
// are part of its names, unless it begins with a drive or a share.
func slashed(p string) string {
	if len(p) > 2 && p[1] == ':' && text.IsLetter(p[0]) || strings.HasPrefix(p, `\\`) || !strings.Contains(p, "/") {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/' && text.IsLetter(p[0])
}
