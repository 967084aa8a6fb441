//go:build unix

package world

import (
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Update has golden files written anew.
var Update = flag.Bool("update", false, "write the golden files anew")

// startDir is the directory that the process began in.
var startDir, _ = os.Getwd()

// root returns the directory of go.mod. A test's binary may also run as a program that stands
// in for another one, in a directory outside of the checkout.
var root = sync.OnceValue(func() string {
	for dir := startDir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("no go.mod above " + startDir)
		}
	}
})

// Root returns the path of a file of the checkout, of its root without elem.
func Root(elem ...string) string {
	return filepath.Join(append([]string{root()}, elem...)...)
}

// Must fails the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
