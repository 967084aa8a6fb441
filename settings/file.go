package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"claudemem"
)

// member is one line of settings.json, kept as it stands.
type member struct {
	key string
	raw json.RawMessage
}

// parseEntries is the Parser of everybody but the hook.
func parseEntries(data []byte, set func(key, text string)) error {
	members, err := parse(data)
	for _, m := range members {
		text := string(m.raw) // people write 5 for "5"
		if len(m.raw) > 0 && m.raw[0] == '"' {
			if err := json.Unmarshal(m.raw, &text); err != nil {
				return errNotObject
			}
		}
		set(m.key, text)
	}
	return err
}

var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

var errNotObject = errors.New("not one flat JSON object")

// parse reads the file's members in order. An empty file has none.
func parse(data []byte) ([]member, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))
	if len(data) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, errNotObject
	}
	var members []member
	for dec.More() {
		var m member
		token, err := dec.Token()
		if err != nil {
			return nil, errNotObject
		}
		m.key, _ = token.(string)
		if err := dec.Decode(&m.raw); err != nil {
			return nil, errNotObject
		}
		members = append(members, m)
	}
	if _, err := dec.Token(); err != nil {
		return nil, errNotObject
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errNotObject
	}
	return members, nil
}

// Set writes one value into settings.json and keeps everything else that is in
// it. The file is replaced whole or not at all. CodeNotFound for an unknown key,
// CodeInvalid for a value that the setting can't have or a file that is broken.
func Set(dataDir, name, value string) error {
	setting, ok := Lookup(name)
	if !ok {
		return unknownKey(name)
	}
	if err := setting.Check(value); err != nil {
		return err
	}
	raw, err := encode(value)
	if err != nil {
		return err
	}
	return edit(dataDir, func(members []member) []member {
		for i := range members {
			if members[i].key == setting.Key {
				members[i].raw = raw
				return without(members, setting.Key, i)
			}
		}
		return append(members, member{setting.Key, raw})
	})
}

// Unset removes a key from settings.json, so that the default holds again.
func Unset(dataDir, name string) error {
	setting, ok := Lookup(name)
	if !ok {
		return unknownKey(name)
	}
	if _, err := os.Stat(Path(dataDir)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return edit(dataDir, func(members []member) []member { return without(members, setting.Key, -1) })
}

// without drops the members of a key but the one at keep.
func without(members []member, key string, keep int) []member {
	kept := members[:0]
	for i, m := range members {
		if m.key != key || i == keep {
			kept = append(kept, m)
		}
	}
	return kept
}

func encode(value string) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read this file
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// edit reads, changes and replaces the file while no other edit does.
func edit(dataDir string, change func([]member) []member) error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return storage(err)
	}
	unlock, err := lock(Path(dataDir) + ".lock")
	if err != nil {
		return storage(err)
	}
	defer unlock()
	path := Path(dataDir)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // people link their settings from elsewhere: keep the link
	}
	mode := fs.FileMode(0o600)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return storage(err)
	default:
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	members, err := parse(data)
	if err != nil {
		return describe(dataDir, err)
	}
	if err := replace(path, format(change(members)), mode); err != nil {
		return storage(err)
	}
	return nil
}

func storage(err error) error {
	return claudemem.Errorf(claudemem.CodeStorage, "write settings: %w", err)
}

func format(members []member) []byte {
	var b bytes.Buffer
	b.WriteString("{")
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := encode(m.key)
		if err != nil {
			continue // cannot be: a string always encodes
		}
		b.WriteString("\n  ")
		b.Write(key)
		b.WriteString(": ")
		b.Write(m.raw)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

func replace(path string, data []byte, mode fs.FileMode) error {
	temp := path + "." + strconv.Itoa(os.Getpid()) + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // the first error is the one to tell
	}
	return err
}

// An edit takes milliseconds: a lock file this old was left by a process that died.
const staleLock = 10 * time.Second

// lock makes a file that must not exist, waiting a little for another edit to end.
func lock(path string) (unlock func(), err error) {
	for range 200 {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return func() { _ = os.Remove(path) }, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()).Abs() > staleLock {
			_ = os.Remove(path)
			continue
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s is there: another edit is under way", path)
}
