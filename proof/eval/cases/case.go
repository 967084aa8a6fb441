// Package cases reads sessions whose keys say what is worth remembering of each turn, from folders
// of hook calls or from scripts (proof/eval/turns/README.md), distils them offline in the batches
// that the observer would make, and judges the records.
package cases

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Case is sessions of one project, and what a reader would want to find of them later.
type Case struct {
	Name string
	// Repository is the part of the name before the first dash: cases of one repository or of one
	// invented project are left out together.
	Repository string
	// Source is "public" where the code comes from a public commit, "invented", or "" if unknown.
	Source string
	// Language is that of the program, Style how the people in it write.
	Language, Style, About string
	Turns                  []*Turn

	calls                []call
	followups, unrelated []Probe
}

// A Probe is the prompt of a later session. A memory given beside it must match one of Any; with
// none, nothing may be given.
type Probe struct {
	Prompt string   `json:"prompt"`
	Any    []string `json:"any"`
}

// Key says what of a turn is worth remembering.
type Key struct {
	Session  int      `json:"session"`
	Number   int      `json:"prompt_number"`
	Remember []Matter `json:"remember"`
	Never    []Matter `json:"never"`
	// Types are right for the main observation; none: the turn is not worth one.
	Types    []string `json:"types"`
	Headline []string `json:"headline"`
	// Supersedes are the turns of the case, from 1, whose records no longer hold after this one.
	Supersedes []int `json:"supersedes,omitempty"`

	headline []*regexp.Regexp
}

// A Matter is something worth remembering, or something false, and the expressions of which one
// finds it.
type Matter struct {
	What   string   `json:"what"`
	Kind   string   `json:"kind,omitempty"`
	Any    []string `json:"any"`
	Weight float64  `json:"weight,omitempty"`

	any []*regexp.Regexp
}

// In reports whether s says it.
func (m *Matter) In(s string) bool {
	return slices.ContainsFunc(m.any, func(r *regexp.Regexp) bool { return r.MatchString(s) })
}

// standing reports whether a learning may say it.
func (m *Matter) standing() bool { return m.Kind == "rule" || m.Kind == "constraint" }

// Says returns the weight of the matters that s tells and shown does not, and the share of the
// headline's expressions that s adds.
func (k *Key) Says(s, shown string) (weight, headline float64) {
	for i := range k.Remember {
		if m := &k.Remember[i]; m.In(s) && (shown == "" || !m.In(shown)) {
			weight += m.Weight
		}
	}
	for _, r := range k.headline {
		if r.MatchString(s) && (shown == "" || !r.MatchString(shown)) {
			headline++
		}
	}
	return weight, headline / max(1, float64(len(k.headline)))
}

// compileExpression compiles an expression of a key: without case, and "." matches line ends.
func compileExpression(s string) (*regexp.Regexp, error) { return regexp.Compile("(?is)" + s) }

// compile compiles the expressions; those that only other engines know are left out.
func (k *Key) compile() {
	compiled := func(list []string) (out []*regexp.Regexp) {
		for _, s := range list {
			if r, err := compileExpression(s); err == nil {
				out = append(out, r)
			}
		}
		return out
	}
	for i := range k.Remember {
		m := &k.Remember[i]
		if m.any = compiled(m.Any); m.Weight == 0 {
			m.Weight = 1
		}
	}
	for i := range k.Never {
		k.Never[i].any = compiled(k.Never[i].Any)
	}
	k.headline = compiled(k.Headline)
}

// IsEven reports whether the SHA-256 of the case's name ends in an even hex digit. Those are
// developed on; what changes there shall hold for the odd ones too, which nobody looks at.
func (c *Case) IsEven() bool {
	sum := sha256.Sum256([]byte(c.Name))
	return sum[len(sum)-1]%2 == 0
}

// userLanguages are the words of a style that say in what language the people write; English if
// there is none.
var userLanguages = []string{"german", "spanish", "french", "japanese", "chinese", "korean", "portuguese", "italian"}

// UserLanguage is the language in which the user writes.
func (c *Case) UserLanguage() string {
	for word := range strings.FieldsSeq(c.Style) {
		if slices.Contains(userLanguages, word) {
			return word
		}
	}
	return "english"
}

// Manner is how the people write, whatever the language: the first such word of the style.
func (c *Case) Manner() string {
	for word := range strings.FieldsSeq(c.Style) {
		if !slices.Contains(userLanguages, word) {
			return word
		}
	}
	return "plain"
}

// keyFile is the form of key.json.
type keyFile struct {
	Language  string   `json:"language"`
	Style     string   `json:"style,omitempty"`
	About     string   `json:"about"`
	Turns     []*Key   `json:"turns"`
	Block     []Matter `json:"block"`
	Followups []Probe  `json:"followups"`
	Unrelated []string `json:"unrelated"`
}

// readFolders reads the cases of a folder, in the order of their names: each a folder with
// session.jsonl, the hook calls in order, and key.json.
func readFolders(dir string) ([]*Case, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []*Case
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(folder, "key.json")); err != nil {
			continue
		}
		c, err := readFolder(folder)
		if err != nil {
			return nil, fmt.Errorf("read case %s: %w", e.Name(), err)
		}
		out = append(out, c)
	}
	return out, nil
}

func readFolder(folder string) (*Case, error) {
	f, err := os.Open(filepath.Join(folder, "session.jsonl"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	c := newCase(filepath.Base(folder))
	for d := json.NewDecoder(f); d.More(); {
		var l call
		if err := d.Decode(&l); err != nil {
			return nil, err
		}
		c.calls = append(c.calls, l)
	}
	b, err := os.ReadFile(filepath.Join(folder, "key.json"))
	if err != nil {
		return nil, err
	}
	var key keyFile
	if err := json.Unmarshal(b, &key); err != nil {
		return nil, err
	}
	c.Language, c.Style, c.About = key.Language, key.Style, key.About
	return c, c.play(key.Turns)
}

func newCase(name string) *Case {
	repository, _, _ := strings.Cut(name, "-")
	return &Case{Name: name, Repository: repository}
}

// WriteFolder writes the case as a folder of dir that Read reads. It may hold code of a
// public repository.
func (c *Case) WriteFolder(dir string) error {
	folder := filepath.Join(dir, c.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var calls []byte
	for _, l := range c.calls {
		b, err := json.Marshal(l)
		if err != nil {
			return err
		}
		calls = append(append(calls, b...), '\n')
	}
	if err := os.WriteFile(filepath.Join(folder, "session.jsonl"), calls, 0o644); err != nil {
		return err
	}
	key := keyFile{Language: c.Language, Style: c.Style, About: c.About, Block: []Matter{}, Followups: c.followups, Unrelated: []string{}}
	for _, p := range c.unrelated {
		key.Unrelated = append(key.Unrelated, p.Prompt)
	}
	for _, t := range c.Turns {
		if t.Key != nil {
			key.Turns = append(key.Turns, t.Key)
		}
	}
	b, err := json.MarshalIndent(key, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "key.json"), append(b, '\n'), 0o644)
}
