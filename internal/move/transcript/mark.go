package transcript

import (
	"os"
	"path/filepath"
	"time"

	"claudemem/internal/leaf/atomicfile"
)

// markName is the file in the data directory that says that transcripts were imported.
const markName = "imported-transcripts"

// NoteImport notes in a data directory that transcripts were imported.
func NoteImport(dataDir string, at time.Time) error {
	return atomicfile.Write(filepath.Join(dataDir, markName), []byte(at.UTC().Format(time.RFC3339)+"\n"), 0o600)
}

// Imported reports whether transcripts were imported into a data directory.
func Imported(dataDir string) bool {
	_, err := os.Stat(filepath.Join(dataDir, markName))
	return err == nil
}
