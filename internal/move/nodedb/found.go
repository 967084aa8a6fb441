package nodedb

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
)

// rememberedName is the file in the data directory that says what was imported.
const rememberedName = "imported-node.json"

// remembered is the content of the file.
type remembered struct {
	Observations int `json:"observations"`
}

// Remember notes that the database at path was imported and how many observations it had, if it
// is the one in the data directory.
func Remember(dataDir, path string, observations int) error {
	if !sameFile(path, filepath.Join(dataDir, FileName)) {
		return nil
	}
	content, err := json.Marshal(remembered{observations})
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dataDir, rememberedName), append(content, '\n'), 0o600)
}

// Found returns the path of the Node program's database in a data directory and the number of
// its observations, 0 if there is none or if they were imported.
func Found(ctx context.Context, dataDir string) (path string, observations int) {
	path = filepath.Join(dataDir, FileName)
	n := Count(ctx, path, dataDir)
	if n == 0 {
		return path, 0
	}
	var done remembered
	content, err := openfile.Read(filepath.Join(dataDir, rememberedName))
	if err == nil && json.Unmarshal(content, &done) == nil && done.Observations >= n {
		return path, 0
	}
	return path, n
}

// sameFile reports whether two paths are those of one file.
func sameFile(a, b string) bool {
	of, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(of, other)
}
