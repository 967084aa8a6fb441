package offline

import (
	"path"
	"strings"
)

// pathKind says what a file is to the work.
type pathKind int

const (
	pathCode pathKind = iota
	pathTest
	pathDoc
	pathConfig
	// pathManifest names dependencies; pathLock only repeats a manifest.
	pathManifest
	pathLock
)

func kindOfPath(p string) pathKind {
	base := lower(path.Base(p))
	low := lower(p)
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch base {
	case "go.mod", "package.json", "cargo.toml", "pyproject.toml", "requirements.txt", "setup.py", "setup.cfg", "pipfile",
		"gemfile", "pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "mix.exs", "deno.json":
		return pathManifest
	case "go.sum", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "cargo.lock", "poetry.lock", "uv.lock",
		"pipfile.lock", "gemfile.lock", "composer.lock", "bun.lockb", "bun.lock", "mix.lock":
		return pathLock
	case "makefile", "dockerfile", "justfile", ".gitignore", ".dockerignore", ".editorconfig", ".gitattributes":
		return pathConfig
	case "readme", "changelog", "license", "notice", "contributing", "authors":
		return pathDoc
	}
	if strings.HasPrefix(base, "requirements") && ext == ".txt" {
		return pathManifest
	}
	switch ext {
	case ".md", ".mdx", ".rst", ".adoc", ".txt", ".org", ".tex":
		return pathDoc
	case ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties", ".xml", ".lock", ".tf", ".tfvars", ".plist":
		return pathConfig
	}
	if strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, ".test") ||
		strings.HasSuffix(stem, ".spec") || strings.HasSuffix(stem, "_spec") || stem == "test" || stem == "tests" || stem == "conftest" ||
		(ext == ".java" || ext == ".kt" || ext == ".cs" || ext == ".swift") && (strings.HasSuffix(stem, "test") || strings.HasSuffix(stem, "tests")) ||
		hasSegment(low, "test", "tests", "__tests__", "spec", "testdata", "e2e") {
		return pathTest
	}
	return pathCode
}

// hasSegment reports whether a directory of the path has one of the names.
func hasSegment(p string, names ...string) bool {
	dir := path.Dir(p)
	for dir != "." && dir != "/" && dir != "" {
		base := path.Base(dir)
		for _, n := range names {
			if base == n {
				return true
			}
		}
		next := path.Dir(dir)
		if next == dir {
			break
		}
		dir = next
	}
	return false
}

// relative gives a path as the memory stores it: relative to root with '/' when
// it is inside, absolute otherwise. inside is true as well when no root is known.
func relative(p, cwd string, roots ...string) (rel string, inside bool) {
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

func slashed(p string) string {
	if len(p) > 2 && p[1] == ':' && isLetter(p[0]) || strings.HasPrefix(p, `\\`) || !strings.Contains(p, "/") {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/' && isLetter(p[0])
}

// nameOf gives the base name for a title, with one directory when the base alone
// says nothing (index.ts, mod.rs, __init__.py, main.go of many).
func nameOf(p string) string {
	switch base := path.Base(p); strings.TrimSuffix(base, path.Ext(base)) {
	case "index", "mod", "__init__", "page", "route", "layout":
		return path.Join(path.Base(path.Dir(p)), base)
	default:
		return base
	}
}
