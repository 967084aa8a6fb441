package settings

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claudemem/internal/leaf/glob"
	"claudemem/internal/memory"
)

// Origin says where a value came from.
type Origin string

// The origins.
const (
	FromDefault     Origin = "default"
	FromFile        Origin = "config.json"
	FromEnvironment Origin = "environment"
	// FromLastGood is the last good copy of a config.json that is broken now.
	FromLastGood Origin = "config.last-good.json"
	// FromOlder is settings.json, which is in force in part while there is no config.json.
	FromOlder Origin = "settings.json"
	// FromFault is the safe value while the file is broken and has no last good copy.
	FromFault Origin = "broken config.json"
)

// Settings are the values in force. The zero value has the defaults.
type Settings struct {
	getenv    func(string) string
	fileFirst bool
	file      fs.FileInfo
	source
}

// Value is a setting with the value in force.
type Value struct {
	Setting
	Value  string
	Origin Origin
	// Err says why the value that is set is not in force, nil otherwise.
	Err error
}

// Load reads the settings of a command or a hook: environment, then file, then
// default. The settings are usable even with an error, which says that the file is
// broken: then its last good copy is in force or, without one, they are Closed. Load may write:
// it keeps the last good copy. The file is read once; getenv is asked each time.
func Load(dataDir string, getenv func(string) string) (*Settings, error) {
	s := &Settings{getenv: getenv, source: readSource(dataDir, true)}
	return s, s.fault
}

// LoadForWorker is Load with the file ahead of the environment, and with File. The file is described
// before it is read, so that a change in between is noticed later.
func LoadForWorker(dataDir string, getenv func(string) string) (*Settings, error) {
	file := Stat(dataDir)
	s, err := Load(dataDir, getenv)
	if _, unread := errors.AsType[syscall.Errno](err); unread {
		file = nil // it may be readable again without a change of its time or size
	}
	s.fileFirst, s.file = true, file
	return s, err
}

// File returns what Stat returned just before LoadForWorker read the file: when Stat
// returns something else later, the settings have changed since. nil also when the file could not be
// read.
func (s *Settings) File() fs.FileInfo { return s.file }

// Inspect is LoadForWorker without changes on disk.
func Inspect(dataDir string, getenv func(string) string) (*Settings, error) {
	s := &Settings{getenv: getenv, fileFirst: true, source: readSource(dataDir, false)}
	return s, s.fault
}

// Closed reports whether the file is broken and has no last good copy. What the user
// excludes is then unknown, so nothing may be captured and no model called.
func (s *Settings) Closed() bool { return s.closed }

// List returns every setting with its value and origin, in the table's order.
func (s *Settings) List() []Value {
	values := make([]Value, len(table))
	for i := range table {
		values[i] = s.at(i)
	}
	return values
}

// Problems returns an error for each value that is set and can't be used, nil for none. It says
// nothing about a broken file: that is Load's error.
func (s *Settings) Problems() []error {
	var problems []error
	for _, v := range s.List() {
		if v.Err != nil {
			problems = append(problems, v.Err)
		}
	}
	return problems
}

// Get returns a setting with its value and origin; CodeNotFound when there is no such key.
func (s *Settings) Get(name string) (Value, error) {
	if i := indexOf(name); i >= 0 {
		return s.at(i), nil
	}
	return Value{}, unknownKey(name)
}

func unknownKey(name string) error {
	return memory.Errorf(memory.CodeNotFound, "no setting %q", name).
		WithHint("claude-mem config list shows every setting")
}

// at returns the value of the setting at place i of the table, with its origin, and with
// Err if a value that is set is invalid. Then, and if the settings are Closed, a setting with
// a safe value has that, another its default.
func (s *Settings) at(i int) Value {
	v := Value{Setting: table[i], Value: table[i].Default, Origin: FromDefault}
	if s.closed && v.Safe != "" {
		v.Value, v.Origin = v.Safe, FromFault
		return v
	}
	e, origin, found := s.find(v.Key)
	if !found {
		return v
	}
	v.Err = v.Check(e.text)
	switch {
	case v.Err == nil:
		v.Value, v.Origin = e.text, origin
	case v.Safe != "":
		v.Value = v.Safe
	}
	return v
}

// find returns what is set for a key of the table and where, whether or not it can be used; false if
// nothing is. An empty variable of the environment sets nothing.
func (s *Settings) find(key string) (entry, Origin, bool) {
	fromEnv := entry{key: key, text: s.env(key)}
	if !s.fileFirst && fromEnv.text != "" {
		return fromEnv, FromEnvironment, true
	}
	for _, e := range slices.Backward(s.entries) {
		if e.key == key {
			return e, s.origin, true
		}
	}
	return fromEnv, FromEnvironment, fromEnv.text != ""
}

// env returns a variable of the environment that counts for these settings.
func (s *Settings) env(key string) string {
	if s.getenv == nil {
		return ""
	}
	return s.getenv(key)
}

// With returns the settings with other values, KEY=VALUE,…, for settings of a group. What is no value
// of one is left out.
func (s *Settings) With(group, values string) *Settings {
	other := *s
	other.fileFirst, other.entries = true, slices.Clone(s.entries)
	for v := range strings.SplitSeq(values, ",") {
		name, text, _ := strings.Cut(v, "=")
		if setting, ok := Lookup(name); ok && setting.Group == group && setting.Check(text) == nil {
			other.entries = append(other.entries, entry{key: setting.Key, text: text})
		}
	}
	return &other
}

// Text returns the value of a key of the table; it panics for another key.
func (s *Settings) Text(key string) string { return s.at(indexOf(key)).Value }

// Bool returns the value of a Bool.
func (s *Settings) Bool(key string) bool {
	on, _ := parseBool(s.Text(key))
	return on
}

// Int returns the value of an Integer.
func (s *Settings) Int(key string) int {
	n, _ := strconv.Atoi(s.Text(key))
	return n
}

// Float returns the value of a Number.
func (s *Settings) Float(key string) float64 {
	f, _ := strconv.ParseFloat(s.Text(key), 64)
	return f
}

// Duration returns the value of Minutes or Days, of which there may be fractions.
func (s *Settings) Duration(key string) time.Duration {
	unit := time.Minute
	if table[indexOf(key)].Kind == Days {
		unit = 24 * time.Hour
	}
	return time.Duration(s.Float(key) * float64(unit))
}

// Items returns the parts of a List, without blanks around them and without empty ones;
// those of the default if one of them is no choice of the list. An item of an array in the file may
// have a comma. The caller must not write to the slice.
func (s *Settings) Items(key string) []string {
	v := s.at(indexOf(key))
	if e, _, found := s.find(key); found && v.Err == nil {
		return e.list()
	}
	return splitList(v.Value)
}

// Projects returns the rule that says in which projects events are captured.
func (s *Settings) Projects() glob.Projects {
	return glob.Local(s.env).Projects(s.Items(KeyExcludedProjects), s.Items(KeyIncludedProjects))
}

// WithheldFiles returns the files whose contents are withheld.
func (s *Settings) WithheldFiles() glob.Set {
	return glob.Local(s.env).Compile(s.Items(KeyWithholdFiles))
}

// Check returns why text can't be the value of the setting, with CodeInvalid, nil when it can. The
// error does not quote the text.
func (s Setting) Check(text string) error {
	var limit float64
	switch s.Kind {
	case Bool:
		if _, ok := parseBool(text); !ok {
			return s.wrong("true or false")
		}
		return nil
	case Choice:
		if slices.Contains(strings.Fields(s.Choices), text) {
			return nil
		}
		return s.wrong("one of " + strings.ReplaceAll(s.Choices, " ", ", "))
	case List:
		choices, items := strings.Fields(s.Choices), splitList(text)
		bad := func(item string) bool {
			return !slices.Contains(choices, item) || item == choices[0] && len(items) > 1
		}
		if len(choices) > 0 && slices.ContainsFunc(items, bad) {
			return s.wrong(choices[0] + ", or a list of " + strings.Join(choices[1:], ", "))
		}
		return nil
	case Integer:
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1_000_000_000 {
			return s.wrong("a whole number, 0 or more")
		}
		if s.Key == KeyWorkerPort && n > 65535 {
			return s.wrong("a port, 0 to 65535")
		}
		return nil
	case Minutes, Days:
		limit = 1_000_000 // a time.Duration holds 106,751 days
		if s.Kind == Days {
			limit = 100_000
		}
	case Number:
		limit = 1
	default:
		return nil
	}
	if f, err := strconv.ParseFloat(text, 64); err != nil || !(f >= 0 && f <= limit) {
		return s.wrong("a number from 0 to " + strconv.FormatFloat(limit, 'f', -1, 64))
	}
	return nil
}

// wrong returns the error of an invalid value, without the value: that may be a secret that
// was set for the wrong key.
func (s Setting) wrong(want string) error {
	return invalid("setting "+s.Key+" must be "+want, nil).
		WithHint("`claude-mem config set " + s.Key + " ''` restores the default: " + cmp.Or(s.Default, "nothing"))
}

// parseBool parses true, on, yes, 1 and their opposites in any letter case; ok is false
// for another text.
func parseBool(text string) (on, ok bool) {
	switch strings.ToLower(text) {
	case "true", "on", "yes", "1":
		return true, true
	case "false", "off", "no", "0":
		return false, true
	}
	return false, false
}

// Shown returns the value as it may be shown: secrets are masked but for their last characters,
// and what stands before the @ of a URL is left out.
func (v Value) Shown() string {
	if !v.Secret || v.Value == "" {
		return withoutUser(v.Value)
	}
	if len(v.Value) >= 16 {
		return "…" + v.Value[len(v.Value)-4:]
	}
	return "…"
}

// withoutUser returns a URL with "…" in the place of user and password, any other text as it is. They
// end at the last @ before the path.
func withoutUser(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	at := strings.LastIndexByte(host, '@')
	if at < 0 {
		return text
	}
	return scheme + "://…@" + rest[at+1:]
}

// View is a setting as JSON and pages show it; a secret is masked.
type View struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Origin  Origin `json:"origin"`
	Default string `json:"default"`
	Group   string `json:"group"`
	// Kind is how a value is parsed, Choices are what it may be.
	Kind    Kind   `json:"kind"`
	Choices string `json:"choices,omitempty"`
	Help    string `json:"help"`
	// Error says why the value that is set is not in force.
	Error string `json:"error,omitempty"`
}

// View returns the setting without a secret value.
func (v Value) View() View {
	out := View{Key: v.Key, Value: v.Shown(), Origin: v.Origin, Default: v.Default, Group: v.Group, Kind: v.Kind, Choices: v.Choices, Help: v.Help}
	if v.Err != nil {
		out.Error = v.Err.Error()
	}
	return out
}
