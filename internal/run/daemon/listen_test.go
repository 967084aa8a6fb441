//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTokenFollowsNoLink: a token that is a link, or that others can read, is made anew, and
// the file behind the link stays as it is.
func TestTokenFollowsNoLink(t *testing.T) {
	known := strings.Repeat("known", 8)
	for name, plant := range map[string]func(t *testing.T, path, other string) error{
		"link to a known token": func(_ *testing.T, path, other string) error { return os.Symlink(other, path) },
		"open to others": func(_ *testing.T, path, _ string) error {
			if err := os.WriteFile(path, []byte(known), 0o600); err != nil {
				return err
			}
			return os.Chmod(path, 0o644) //nolint:gosec // the point
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, other := filepath.Join(t.TempDir(), "token"), filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(other, []byte(known), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := plant(t, path, other); err != nil {
				t.Fatal(err)
			}
			token, err := readToken(filepath.Dir(path))
			if err != nil || token == known || len(token) != 64 {
				t.Errorf("token %q, %v, want a new one", token, err)
			}
			if content, err := os.ReadFile(other); err != nil || string(content) != known {
				t.Errorf("the file behind the link: %q, %v", content, err)
			}
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
				t.Errorf("token: %v, %v", info.Mode(), err)
			}
			if again, err := readToken(filepath.Dir(path)); err != nil || again != token {
				t.Errorf("read again: %q, %v", again, err)
			}
		})
	}
}
