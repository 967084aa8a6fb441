package settings

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// Set writes one value into config.json and keeps the rest of the file, comments too. The
// file is replaced whole or not at all. CodeNotFound for an unknown key, CodeInvalid for
// an invalid value or a broken file, CodeStorage if it cannot be written or another edit holds the
// lock for 2 s.
func Set(dataDir, name, value string) error {
	setting, ok := Lookup(name)
	if !ok {
		return unknownKey(name)
	}
	if err := setting.Check(value); err != nil {
		return err
	}
	return edit(dataDir, func(d *jsonscan.Document) error {
		return d.Set(jsonscan.AppendQuote(nil, value), memberOf(d, setting.Key))
	})
}

// Change sets a value, or for "" has the default apply again, and returns what else there is to say
// of it. The errors are those of Set.
func Change(dataDir, name, value string) (notes []string, err error) {
	pending, err := PendingImport(dataDir)
	if err != nil {
		return nil, err
	}
	if value == "" {
		err = Unset(dataDir, name)
	} else {
		err = Set(dataDir, name, value)
	}
	if err == nil && len(pending) > 0 {
		notes = append(notes, "settings.json is ignored from now on: its restricting settings were copied into config.json; `claude-mem config import` shows and imports the others")
	}
	return notes, err
}

// Unset removes a key from config.json, so that the default is in force. Without a settings file it
// does nothing; with only an older one it makes config.json with what restricts in that, except
// the key. The errors are those of Set.
func Unset(dataDir, name string) error {
	setting, ok := Lookup(name)
	if !ok {
		return unknownKey(name)
	}
	if !openfile.Exists(Path(dataDir)) && !openfile.Exists(OlderPath(dataDir)) {
		return nil
	}
	return edit(dataDir, func(d *jsonscan.Document) error {
		for d.Remove(memberOf(d, setting.Key)) { // once for each way to spell it
		}
		return nil
	})
}

// memberOf returns a key of the table as the file spells it the last time, which counts, or the key
// itself if the file lacks it.
func memberOf(d *jsonscan.Document, key string) string {
	for _, member := range slices.Backward(d.Keys()) {
		if at := indexOf(member); at >= 0 && table[at].Key == key {
			return member
		}
	}
	return key
}

// Older is a setting of the older file, as Import would write it.
type Older struct {
	Value
	// InForce says that it restricts and is in force before the import.
	InForce bool
	// From is the setting of claude-mem for Node that it is translated from, "" for the same
	// name and value.
	From  string
	entry entry
}

// PendingImport returns the settings of the older file while there is no config.json, else
// nil. An invalid value has an Err and is not imported. What is empty or the default is left
// out. CodeInvalid if the file is broken.
func PendingImport(dataDir string) ([]Older, error) {
	if openfile.Exists(Path(dataDir)) {
		return nil, nil
	}
	return OlderSettings(dataDir)
}

// OlderSettings returns the settings of the older file, whether or not there is a
// config.json, in the table's order; nil when there is no older file. What is empty or the default is
// left out. CodeInvalid if the file is broken.
func OlderSettings(dataDir string) ([]Older, error) {
	entries, _, err := readFile(OlderPath(dataDir), true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, brokenError(OlderPath(dataDir), err, "nothing of it can be imported")
	}
	held := &Settings{source: source{entries: restricting(entries), origin: FromOlder}}
	var origins map[string]string
	if members := readNode(dataDir); members != nil {
		entries, origins = fromNode(entries, members)
	}
	all := &Settings{source: source{entries: entries, origin: FromOlder}}
	var list []Older
	for i := range table {
		v := all.at(i)
		if e, _, set := all.find(v.Key); set && e.text != "" && e.text != v.Default {
			_, _, inForce := held.find(v.Key)
			list = append(list, Older{Value: v, InForce: inForce, From: origins[v.Key], entry: e})
		}
	}
	return list, nil
}

// Import writes the valid settings of the older file that the user has seen and wanted
// into config.json, whose own values stay. Those that restrict are always written into a new
// one. From then on the older file is ignored, even if nothing was wanted. The errors are those of
// Set.
func Import(dataDir string, wanted func(Older) bool) error {
	list, err := OlderSettings(dataDir)
	if err != nil {
		return err
	}
	begun := openfile.Exists(Path(dataDir))
	return edit(dataDir, func(d *jsonscan.Document) error {
		for _, o := range list {
			member := memberOf(d, o.Key)
			if !wanted(o) || o.Err != nil || begun && d.Find(member) != nil {
				continue
			}
			if err := d.Set(o.entry.encoded(), member); err != nil {
				return err
			}
		}
		return nil
	})
}

// WithoutKeys returns the choice of settings of the older file for somebody who did not
// consent to the import of keys: neither keys nor the provider that needs one of them, with
// its model and URL.
func WithoutKeys(list []Older) func(Older) bool {
	held := map[string]bool{}
	for _, o := range list {
		if o.Key != KeyProvider {
			continue
		}
		apiKey, baseURL := ProviderKeys(o.Value.Value)
		if slices.ContainsFunc(list, func(k Older) bool { return k.Key == apiKey }) {
			held[KeyProvider], held[KeyModel], held[baseURL] = true, true, true
		}
	}
	return func(o Older) bool { return !o.Secret && !held[o.Key] }
}

// lockLimit is how long an edit waits for another one, which takes milliseconds.
const lockLimit = 2 * time.Second

// edit reads, changes and replaces config.json under a lock, and renews the last good copy. A new
// file starts with the restricting settings of the older file, which is ignored from then on. A
// broken file is not changed: CodeInvalid. All other errors, those of change too, become
// CodeStorage.
func edit(dataDir string, change func(*jsonscan.Document) error) error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return storage(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	held, err := openfile.Lock(ctx, Path(dataDir)+".lock")
	if err == nil && held == nil {
		err = errors.New("another edit is running")
	}
	if err != nil {
		return storage(err)
	}
	defer func() { _ = held.Close() }() // releases the lock
	path := Path(dataDir)
	mode := fs.FileMode(0o600)
	data, err := openfile.Read(path)
	older := source{}
	switch {
	case errors.Is(err, fs.ErrNotExist) && openfile.Exists(path):
		return brokenError(path, errLink, "it was not changed")
	case errors.Is(err, fs.ErrNotExist):
		if older = readOlder(dataDir); older.fault != nil {
			return older.fault
		}
		data = []byte("{}\n")
	case err != nil:
		return storage(err)
	default:
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	if _, err := parse(data, false); err != nil {
		return brokenError(path, err, "it was not changed")
	}
	d, err := jsonscan.ParseRelaxed(data)
	if err != nil {
		return brokenError(path, err, "it was not changed")
	}
	for _, e := range older.entries {
		if err := d.Set(e.encoded(), e.key); err != nil {
			return storage(err)
		}
	}
	if err := change(d); err != nil {
		return storage(err)
	}
	if len(d.Bytes()) > largestFile {
		return invalid(path+" would be over 1 MB; it was not changed", errTooLarge)
	}
	if err := atomicfile.Write(path, d.Bytes(), mode); err != nil {
		return storage(err)
	}
	readSource(dataDir, true) // renews the last good copy
	return nil
}

// encoded returns an entry's value as JSON: a text, or an array if it was one.
func (e entry) encoded() []byte {
	if e.items == nil {
		return jsonscan.AppendQuote(nil, e.text)
	}
	b := []byte{'['}
	for i, item := range e.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonscan.AppendQuote(b, item)
	}
	return append(b, ']')
}

func storage(err error) error {
	return memory.Errorf(memory.CodeStorage, "write settings: %w", err)
}

// Describe returns a line about a setting of the older file, its secret masked: its value, or why
// it is not imported.
func (o Older) Describe() string {
	text := strings.TrimPrefix(o.Key, prefix) + " = " + o.Shown()
	switch {
	case o.Err != nil:
		_, reason, _ := strings.Cut(o.Err.Error(), o.Key+" ") // "must be …", as wrong words it
		text = strings.TrimPrefix(o.Key, prefix) + ": not imported, it " + reason
	case o.InForce:
		text += " (in force already)"
	case o.From != "":
		text += " (from " + o.From + ")"
	}
	return text
}
