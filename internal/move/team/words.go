package team

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/memory"
)

const (
	// mostWords bounds the words of a record that are searched, mostAsked those of a query: the server refuses more.
	mostWords = 1000
	mostAsked = 16
	// saidOften is how many times a record has a word that counts more.
	saidOften = 3
)

// said is what the state of a record says that is searched and shown.
type said struct {
	Title        string   `json:"title"`
	Subtitle     string   `json:"subtitle"`
	Narrative    string   `json:"narrative"`
	Facts        []string `json:"facts"`
	Concepts     []string `json:"concepts"`
	Content      string   `json:"content"`
	Completed    string   `json:"completed"`
	Investigated string   `json:"investigated"`
	Learned      string   `json:"learned"`
	NextSteps    string   `json:"next_steps"`
	Notes        string   `json:"notes"`

	FilesRead   []string         `json:"files_read"`
	FilesEdited []string         `json:"files_edited"`
	Files       []memory.FileRef `json:"files"`
}

// saidBy returns what the fields of a state say; a field that cannot be read says nothing.
func saidBy(fields map[string]memory.Field) (s said) {
	for _, field := range fields {
		_ = json.Unmarshal([]byte(field.Value), &s) // they have different members
	}
	return s
}

// heading is the record's title; a record without one begins with what it is about.
func (s *said) heading() string {
	return cmp.Or(s.Title, s.Content, s.Completed, s.Learned, s.Investigated)
}

// texts returns the other texts.
func (s *said) texts() []string {
	list := []string{s.Subtitle, s.Narrative}
	list = append(append(list, s.Facts...), s.Concepts...)
	return append(list, s.Content, s.Completed, s.Learned, s.Investigated, s.NextSteps, s.Notes)
}

// Indexed is a record as it is searched on the server: the hashes of its words, each once, up to Title those of its title, up to Often those
// that it has often, and the signs of its vector as PostgreSQL writes bits, "" for none.
type Indexed struct {
	Hashes       []int32
	Title, Often int
	Code         string
}

// IndexOf returns what is searched of the state of a record.
func IndexOf(state []byte) (out Indexed) {
	var shared memory.Shared
	if json.Unmarshal(state, &shared) != nil {
		return out
	}
	s := saidBy(shared.Fields)
	counts := map[int32]int{}
	var order []int32
	add := func(h int32) {
		if counts[h]++; counts[h] == 1 {
			order = append(order, h)
		}
	}
	for _, h := range hashesOf(s.heading(), false) {
		add(h)
	}
	out.Title = len(order)
	for _, text := range s.texts() {
		for _, h := range hashesOf(text, false) {
			add(h)
		}
	}
	files := append(slices.Clone(s.FilesRead), s.FilesEdited...)
	for _, f := range s.Files {
		files = append(files, f.Path)
	}
	for _, w := range words.Paths(files) {
		add(int32(words.Hash(w.Text))) //nolint:gosec // a pattern of bits
	}
	rest := order[out.Title:]
	slices.SortStableFunc(rest, func(a, b int32) int { return cmp.Compare(min(counts[b], saidOften), min(counts[a], saidOften)) })
	out.Often = out.Title
	for _, h := range rest {
		if counts[h] >= saidOften {
			out.Often++
		}
	}
	out.Hashes = order[:min(len(order), mostWords)]
	out.Title, out.Often = min(out.Title, len(out.Hashes)), min(out.Often, len(out.Hashes))
	out.Code = codeOf(strings.Join(append([]string{s.heading()}, s.texts()...), "\n"))
	return out
}

// hashesOf returns the hashes of the words of a text without those that say nothing; of a query each once, with the joined forms of neighbours.
func hashesOf(text string, query bool) (list []int32) {
	for _, w := range words.Query(text) {
		if w.Stop || w.Joined && !query {
			continue
		}
		if h := int32(words.Hash(w.Text)); !query || !slices.Contains(list, h) { //nolint:gosec // a pattern of bits
			list = append(list, h)
		}
	}
	return list
}

// codeOf returns the signs of a text's vector of the built-in table, as PostgreSQL writes bits; "" for a text without a vector.
func codeOf(text string) string {
	table, err := embed.Builtin()
	if err != nil {
		return ""
	}
	pieces := table.Pieces(text)
	if len(pieces) == 0 {
		return ""
	}
	var b strings.Builder
	for _, bits := range vectors.Code(table.Vector(pieces)) {
		for i := range 64 {
			b.WriteByte('0' + byte(bits>>i&1)) //nolint:gosec // a bit
		}
	}
	return b.String()
}

// QueryOf returns a query as the server is asked: its words and its code.
func QueryOf(query string) Indexed {
	hashes := hashesOf(query, true)
	return Indexed{Hashes: hashes[:min(len(hashes), mostAsked)], Code: codeOf(query)}
}
