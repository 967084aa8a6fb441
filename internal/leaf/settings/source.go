package settings

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// Path returns the path of the settings file of a data directory.
func Path(dataDir string) string { return filepath.Join(dataDir, "config.json") }

// OlderPath returns the path of the settings file of claude-mem for Node and of earlier
// releases of this program. While there is no config.json, its restricting settings are in
// force (see restricting).
func OlderPath(dataDir string) string { return filepath.Join(dataDir, "settings.json") }

// goodPath returns the path of the last good copy of config.json.
func goodPath(dataDir string) string { return filepath.Join(dataDir, "config.last-good.json") }

// entry is one setting of a file; the last of a key counts.
type entry struct {
	key, text string
	// items are the elements of a value that is an array, nil for any other.
	items []string
}

// source is what the files of a data directory set.
type source struct {
	entries []entry
	origin  Origin
	// fault says why config.json, or the older file, is not in force.
	fault error
	// closed: the file is broken and there is no last good copy.
	closed bool
}

// replacing is how long a settings file may be missing while an editor replaces it.
const replacing = 20 * time.Millisecond

// readSource reads config.json or, if that is broken, its last good copy; without a
// config.json the restricting settings of the older file. With keep it renews a copy that
// is not of this version of the file, and removes it when the user has removed config.json. A file
// that is missing while there is a copy is looked for again after replacing: an editor may be
// saving it.
func readSource(dataDir string, keep bool) source {
	entries, info, err := readFile(Path(dataDir), false)
	if os.IsNotExist(err) && openfile.Exists(goodPath(dataDir)) {
		time.Sleep(replacing)
		if entries, info, err = readFile(Path(dataDir), false); keep && os.IsNotExist(err) {
			_ = os.Remove(goodPath(dataDir)) // the user removed config.json; tried again by the next reader
		}
	}
	switch {
	case err == nil:
		if keep {
			keepGood(dataDir, info)
		}
		return source{entries: entries, origin: FromFile}
	case os.IsNotExist(err):
		return readOlder(dataDir)
	}
	good, _, noCopy := readFile(goodPath(dataDir), false)
	if noCopy == nil {
		return source{entries: good, origin: FromLastGood, fault: brokenError(Path(dataDir), err, "the last good settings stay in force")}
	}
	return source{closed: true, fault: brokenError(Path(dataDir), err, "nothing is captured and no model is called")}
}

// readOlder returns the restricting settings of an older settings.json; none without
// one. A broken one closes the settings.
func readOlder(dataDir string) source {
	entries, _, err := readFile(OlderPath(dataDir), true)
	switch {
	case os.IsNotExist(err):
		return source{}
	case err != nil:
		return source{closed: true, fault: brokenError(OlderPath(dataDir), err, "nothing is captured and no model is called")}
	}
	return source{entries: restricting(entries), origin: FromOlder}
}

// invalid returns an error with a message of its own and a cause, which may be nil. It
// keeps package fmt, a twentieth of the program, out of the hook.
func invalid(message string, cause error) *memory.Error {
	return &memory.Error{Code: memory.CodeInvalid, Message: message, Err: cause}
}

// brokenError returns a CodeInvalid error that a settings file is broken, with what
// holds meanwhile.
func brokenError(path string, err error, meanwhile string) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err // the message has the path
	}
	return invalid(path+" is broken: "+err.Error()+"; "+meanwhile, err).WithHint("repair or remove " + path)
}

// errLink is the error of a link to a missing file: there are settings, but they are
// unknown.
var errLink = errors.New("a link to a missing file")

// readFile reads and parses a settings file. fs.ErrNotExist says that there is none; every other
// error that there are settings, which are not known. info describes the file as it was before
// it was read. older: it may have the form of claude-mem for Node.
func readFile(path string, older bool) (entries []entry, info fs.FileInfo, err error) {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		if os.IsNotExist(err) && openfile.Exists(path) {
			return nil, nil, errLink
		}
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err != nil {
		return nil, nil, err
	}
	if entries, err = parse(data, older); err != nil {
		return nil, nil, err
	}
	return entries, info, nil
}

// largestFile bounds a settings file, in bytes.
const largestFile = 1 << 20

var (
	errEmpty    = errors.New("it is empty")
	errTooLarge = errors.New("it is over 1 MB")
)

// parse returns the settings in a file. The file may have comments, a byte order mark,
// trailing commas and arrays of texts. A key may lack the prefix and be in any letter
// case. Unknown keys are ignored; values are not checked here, but for their JSON type. Entries
// have the table's spelling of the key and are in the order of the file; null takes a key back. With an
// error the entries count for nothing.
func parse(data []byte, older bool) (entries []entry, err error) {
	if len(data) > largestFile {
		return nil, errTooLarge
	}
	data = jsonscan.Relax(data)
	if strings.TrimSpace(string(data)) == "" {
		return nil, errEmpty
	}
	var wrong error
	visit := func(key string, value []byte) {
		i := indexOf(key)
		if i < 0 {
			return
		}
		e, isSet, ok := parseValue(table[i].Key, value)
		if !ok && wrong == nil {
			wrong = errors.New(table[i].Key + " must be a text or a list of texts")
		}
		if isSet {
			entries = append(entries, e)
		} else {
			entries = slices.DeleteFunc(entries, func(other entry) bool { return other.key == e.key })
		}
	}
	members := jsonscan.Members
	if older {
		members = olderMembers
	}
	return entries, cmp.Or(members(data, visit), wrong)
}

// parseValue parses a setting's value, which is not empty: a text, a number, true or false, or an
// array of these; null sets nothing. ok is false for any other value. Blank items of an array are
// left out.
func parseValue(key string, value []byte) (e entry, isSet, ok bool) {
	e.key = key
	switch value[0] {
	case '{':
		return e, false, false
	case 'n':
		return e, false, true
	case '[':
		e.items, ok = []string{}, true
		jsonscan.Parts(value, func(_ string, element []byte) {
			item, _, scalar := parseValue(key, element)
			if !scalar || item.items != nil || strings.TrimSpace(item.text) == "" {
				ok = ok && scalar && item.items == nil
				return
			}
			e.items = append(e.items, strings.TrimSpace(item.text))
		})
		e.text = strings.Join(e.items, ",")
		return e, true, ok
	}
	text, isText := jsonscan.Unquote(value)
	if !isText {
		text = string(value) // people write 5 for "5"
	}
	e.text = text
	return e, true, true
}

// restricting returns the settings of the older file that can only restrict what is
// captured, shown or sent. They are in force at once, all others only after Import, when
// the user has seen them. Items of a list are added to the list's default.
func restricting(entries []entry) []entry {
	var kept []entry
	for _, e := range entries {
		if e.text == "" {
			continue
		}
		switch e.key {
		case KeyExcludedProjects, KeyIncludedProjects:
		case KeySkipTools, KeyWithholdFiles:
			if e.text == nodeSkipTools { // that of claude-mem for Node as it begins: nobody's choice
				continue
			}
			setting, _ := Lookup(e.key)
			e.items = append(splitList(setting.Default), e.list()...)
			slices.Sort(e.items)
			e.items = slices.Compact(e.items)
			e.text = strings.Join(e.items, ",")
		case KeyProvider:
			if e.text != ProviderOffline {
				continue
			}
		case KeyRecall:
			if on, ok := parseBool(e.text); on || !ok {
				continue
			}
		default:
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// list returns the parts of a list: the items of an array as they are, else those between commas.
func (e entry) list() []string {
	if e.items != nil {
		return e.items
	}
	return splitList(e.text)
}

// splitList returns the items between commas, trimmed, without empty ones.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// keepGood copies a valid config.json, described by info, to the last good copy, unless that
// has the same time and size. If it cannot be written, there is no copy: an old one might allow what
// the file restricts now, and without one a file that breaks later closes the settings.
func keepGood(dataDir string, info fs.FileInfo) {
	good := goodPath(dataDir)
	if copied, err := os.Stat(good); err == nil && copied.Size() == info.Size() && copied.ModTime().Equal(info.ModTime()) {
		return
	}
	data, err := openfile.Read(Path(dataDir))
	if err != nil {
		return
	}
	if _, err := parse(data, false); err != nil {
		return // changed since it was read
	}
	if atomicfile.WriteOwn(good, data, 0o600) != nil {
		_ = os.Remove(good) // it may allow what this version restricts
		return
	}
	_ = os.Chtimes(good, info.ModTime(), info.ModTime()) // else the next reader renews it again
}

// Stat describes the file of the settings, nil when there is none or it cannot be looked at. When
// time or size of the description change, the settings must be loaded again.
func Stat(dataDir string) fs.FileInfo {
	info, err := os.Stat(Path(dataDir))
	if os.IsNotExist(err) {
		info, _ = os.Stat(OlderPath(dataDir))
	}
	return info
}

// DataDirKey is the environment variable that moves the data directory. It is
// not in the table: the file it would be read from lies in that directory.
const DataDirKey = "CLAUDE_MEM_DATA_DIR"

// DataDir returns the path of the data directory: CLAUDE_MEM_DATA_DIR (with ~ for the home directory),
// else .claude-mem in the home directory; "" if there is none (NoDataDir). It is not made. A relative
// one is none: it would be another memory in each directory.
func DataDir(getenv func(string) string) string {
	home, dir := HomeDir(getenv), getenv(DataDirKey)
	switch {
	case dir == "" && home != "":
		dir = filepath.Join(home, ".claude-mem")
	case home != "" && (dir == "~" || strings.HasPrefix(dir, "~/")):
		dir = filepath.Join(home, dir[1:])
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Clean(dir)
}

// NoDataDir returns why DataDir has none.
func NoDataDir(getenv func(string) string) string {
	if dir := getenv(DataDirKey); dir != "" {
		return DataDirKey + " is " + strconv.Quote(dir[:min(len(dir), 100)]) + ", which is no absolute path"
	}
	return "there is neither a home directory nor " + DataDirKey
}

// SlackKey is the variable of Slack, which a worker gets from whoever starts it.
const SlackKey = "CLAUDE_MEM_SLACK"

// Slack returns the time that CLAUDE_MEM_SLACK, a duration like "10s", adds to the deadlines by
// which hooks, context blocks, recall and completions answer, at most a minute: for tests on a
// busy machine. It is 0 for anything else.
func Slack(getenv func(string) string) time.Duration {
	slack, err := time.ParseDuration(getenv(SlackKey))
	if err != nil {
		return 0
	}
	return min(max(slack, 0), time.Minute)
}

// HomeDir returns the home directory by the environment, "" if it is not set.
func HomeDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}
