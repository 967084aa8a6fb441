package observer

import (
	"os"
	"path/filepath"
)

// markers are files at a project's root that tell what it is written in or built with, in
// the order in which they are shown.
var markers = []struct{ file, technology string }{
	{"go.mod", "Go"}, {"Cargo.toml", "Rust"}, {"tsconfig.json", "TypeScript"}, {"package.json", "Node.js"}, {"deno.json", "Deno"},
	{"pyproject.toml", "Python"}, {"requirements.txt", "Python"}, {"setup.py", "Python"}, {"Gemfile", "Ruby"}, {"composer.json", "PHP"},
	{"pom.xml", "Maven"}, {"build.gradle", "Gradle"}, {"build.gradle.kts", "Gradle, Kotlin"}, {"Package.swift", "Swift"}, {"pubspec.yaml", "Dart"},
	{"mix.exs", "Elixir"}, {"build.zig", "Zig"}, {"CMakeLists.txt", "CMake"}, {"Dockerfile", "Docker"}, {"Makefile", "make"},
}

// technologiesOf returns what a project is written in and built with, by the files at its
// root; none if the root cannot be read.
func technologiesOf(root string) []string {
	if !filepath.IsAbs(root) {
		return nil
	}
	var found []string
	for _, m := range markers {
		info, err := os.Lstat(filepath.Join(root, m.file))
		if err == nil && info.Mode().IsRegular() && (len(found) == 0 || found[len(found)-1] != m.technology) {
			found = append(found, m.technology)
		}
	}
	return found
}
