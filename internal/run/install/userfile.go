package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// largestFile bounds the files that are parsed, in bytes. The host itself would not be
// usable with a settings file of this size.
const largestFile = 64 << 20

// readUserFile returns the content of a file of the user's, nil when it does not exist.
func readUserFile(path string) ([]byte, error) {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storage("read", path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestFile+1)) // never nil
	if err != nil {
		return nil, storage("read", path, err)
	}
	if len(data) > largestFile {
		return nil, memory.Errorf(memory.CodeTooLarge, "%s is larger than %d MB", path, largestFile>>20).
			WithHint("nothing was changed; make the file smaller, then run `claude-mem install` again")
	}
	return data, nil
}

// storage returns the error of a file operation, with a hint.
func storage(operation, path string, err error) error {
	return memory.Errorf(memory.CodeStorage, "%s %s: %w", operation, path, err).
		WithHint("free some space or make it writable, then run the command again: it continues; `claude-mem doctor` shows what is missing")
}

// writeFile replaces a file of the user's whole or not at all, synced to disk. A link
// stays a link, and a file keeps its mode; a new one gets mode.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(atomicfile.BehindLinks(path)), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, data, mode)
}

// writeOver runs write, which replaces path. A running program cannot be replaced on
// Windows but it can be renamed: then write runs again.
func writeOver(path string, write func() error) error {
	err := write()
	if err == nil {
		return nil
	}
	aside, ok := setAside(path)
	if !ok {
		return err
	}
	if second := write(); second != nil {
		return errors.Join(err, os.Rename(aside, path))
	}
	_ = os.Remove(aside) // fails while it runs: the next install does it
	return nil
}

// setAside renames a program that is running and returns its new path.
func setAside(path string) (aside string, ok bool) {
	for i := range 100 {
		aside = path + asideSuffix + strconv.Itoa(i)
		if removeIfThere(aside) == nil { // else it is an older one that is still running
			return aside, os.Rename(path, aside) == nil
		}
	}
	return "", false
}

// asideSuffix marks a program that was renamed because it was running.
const asideSuffix = ".old-"

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hashFile returns the hash and the size of a file, "" when it does not exist.
func hashFile(path string) (hash string, size int64, err error) {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// sameJSON reports whether two files have the same values. Empty objects under the keys
// empties do not count, since the host leaves some behind. A missing file equals an empty
// one, and 1.50 equals 1.5, since the host's numbers are floating point too.
func sameJSON(a, b []byte, empties ...string) bool {
	x, okX := parseObject(a, empties)
	y, okY := parseObject(b, empties)
	return okX && okY && reflect.DeepEqual(x, y)
}

// parseObject decodes a JSON object for comparison, without those members of empties that
// are empty objects. An empty file is an empty object; false for anything else.
func parseObject(data []byte, empties []string) (map[string]any, bool) {
	data = bytes.TrimSpace(jsonscan.TrimBOM(data))
	m := map[string]any{}
	if len(data) == 0 {
		return m, true
	}
	if json.Unmarshal(data, &m) != nil || m == nil {
		return nil, false
	}
	for _, key := range empties {
		if o, ok := m[key].(map[string]any); ok && len(o) == 0 {
			delete(m, key)
		}
	}
	return m, true
}
