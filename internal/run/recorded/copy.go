package recorded

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CopyFiles writes a project's files below dir, which is made when missing. Shell
// scripts become executable. There is no .git: whoever needs one makes it.
func CopyFiles(dir, project string) error {
	files, err := Files(project)
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if d.Name() == "go.mod.txt" {
			to = strings.TrimSuffix(to, ".txt")
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(to, body, mode); err != nil {
			return fmt.Errorf("write project file: %w", err)
		}
		return nil
	})
}
