package index

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/collect"
)

const (
	// minCorrected is the shortest word that is taken for mistyped: shorter ones have
	// too many neighbours.
	minCorrected = 4
	// maxCorrected bounds how many words of a query are corrected: each is about 500
	// look-ups.
	maxCorrected = 6
	// correctedLikeness is the least likeness of a word that the table has to the one that it
	// is taken for: "databse" is near "database", "broker" is not near "broke".
	correctedLikeness = 0.4
	// guessedWeight is the weight of a corrected or split word, so that a record with
	// the word as it was typed goes first. Not measured.
	guessedWeight = 0.8
)

// query is a text as it is searched.
type query struct {
	terms      []term
	corrected  map[string]string
	collection rank.Collection
}

// term is a word of a query. Alone marks the joined form of two of its words.
type term struct {
	rank.Term
	text       string // what FTS5 looks for
	raw        string // what a person is shown
	guessed    bool   // a word that was looked for in place of one that no record has
	everywhere int    // how many documents of all projects have it

	// place is the number of its word among the distinct words of the text, -1 for
	// none; worth is the weight in this project of a record having it, telling the
	// weight anywhere. newWitness sets them.
	place          int
	worth, telling float64
}

// rarestFirst returns the terms that documents have, those of the fewest first.
func (q *query) rarestFirst() []term {
	known := slices.DeleteFunc(slices.Clone(q.terms), func(t term) bool { return t.Documents <= 0 })
	slices.SortStableFunc(known, func(x, y term) int { return cmp.Compare(x.Documents, y.Documents) })
	return known
}

// readQuery takes a text apart, looks up how many documents have its words, adds other forms
// of them and corrects those that none has, the last two not in prose. table may be nil.
func (b *base) readQuery(ctx context.Context, text string, r Request, table *embed.Table) (*query, error) {
	c, f := b.cat, r.Filter
	most := maxQueryWords
	if r.Prose {
		most = maxQueryBytes // all of them: which weigh most is known when they have been counted
	}
	q := &query{}
	projects := c.projectNumbers(f)
	q.collection = c.collection(projects)
	list := slices.DeleteFunc(words.Query(text), func(w words.QueryWord) bool { return w.Stop })
	list = list[:min(len(list), most)]
	hashes := collect.Map(list, func(w words.QueryWord) uint32 { return hash(w.Text) })
	forms := make([][]form, len(list))
	if !r.Prose { // who waits at a prompt waits for each word that is looked up
		forms = otherForms(list, table)
		for _, of := range forms {
			hashes = append(hashes, collect.Map(of, func(f form) uint32 { return hash(f.Text) })...)
		}
	}
	local, err := b.frequencies(ctx, hashes, projects)
	if err != nil {
		return nil, err
	}
	// For prose the frequencies in other projects are not needed here: its words are not
	// corrected, and most of them are left out before countEverywhere.
	frequencies := local
	if projects != nil && !r.Prose {
		if frequencies, err = b.frequencies(ctx, hashes, nil); err != nil {
			return nil, err
		}
	}
	// frequencies are those in all projects, local those in the filter's.
	position, last := -1, -1
	seen := map[uint32]int{} // to the term's number
	// add returns the term that was added, nil for a word that the query has already.
	add := func(w words.QueryWord, documents, everywhere int, weight float64, guessed bool) *term {
		h := hash(w.Text)
		if w.Joined {
			weight *= rank.JoinedWeight
		}
		if at, ok := seen[h]; ok {
			q.terms[at].Weight += rank.RepeatWeight * weight
			return nil
		}
		if len(q.terms) == most {
			return nil
		}
		seen[h] = len(q.terms)
		q.terms = append(q.terms, term{
			Term: rank.Term{Hash: h, Position: position, Documents: documents, Weight: weight, Alone: w.Joined},
			text: w.Text, raw: w.Raw, guessed: guessed, everywhere: everywhere,
		})
		return &q.terms[len(q.terms)-1]
	}
	// addForms adds the forms that any document has of a word that so many documents have.
	addForms := func(of int, list []form) {
		for _, f := range list {
			h := hash(f.Text)
			if _, ok := seen[h]; ok || frequencies[h] == 0 {
				continue
			}
			if t := add(f.QueryWord, local[h], frequencies[h], f.weightBeside(of, local[h], q.collection.Documents), true); t != nil {
				t.Instead, t.Alone = true, true // only for a record without the word, and in no pair
			}
		}
	}
	// The two words of a joined one that documents have are not mistyped.
	inJoined := map[int]bool{}
	for _, w := range list {
		if w.Joined && frequencies[hash(w.Text)] > 0 {
			inJoined[w.Position], inJoined[w.Position+1] = true, true
		}
	}
	corrections := 0
	for i, w := range list {
		h := hash(w.Text)
		if w.Joined && frequencies[h] == 0 {
			continue
		}
		// Stop words are out: their neighbours count as adjacent.
		if w.Position != last {
			position++
			last = w.Position
		}
		formed := slices.ContainsFunc(forms[i], func(f form) bool { return frequencies[hash(f.Text)] > 0 })
		if frequencies[h] > 0 || r.Prose || formed || inJoined[w.Position] || !correctable(list, i) || corrections == maxCorrected {
			add(w, local[h], frequencies[h], 1, false)
			addForms(local[h], forms[i])
			continue
		}
		corrections++
		guesses, shown, err := b.correct(ctx, w, table)
		if err != nil {
			return nil, err
		}
		add(w, 0, 0, 1, false) // as it was typed: no record has it, but it weighs in the text (newWitness)
		for _, g := range guesses {
			n := g.documents
			if projects != nil {
				m, err := b.frequencies(ctx, []uint32{hash(g.word.Text)}, projects)
				if err != nil {
					return nil, err
				}
				n = m[hash(g.word.Text)]
			}
			add(g.word, n, g.documents, guessedWeight, true)
		}
		if shown != "" {
			if q.corrected == nil {
				q.corrected = map[string]string{}
			}
			q.corrected[w.Raw] = shown
		}
	}
	return q, nil
}

// maxQueryWords bounds the words of a query that are searched: package rank scores no more.
const maxQueryWords = 256

// correctable reports whether an unknown word may be mistyped: not the whole of an
// identifier whose parts are words of their own.
func correctable(list []words.QueryWord, i int) bool {
	w := list[i]
	if w.Joined || utf8.RuneCountInString(w.Raw) < minCorrected {
		return false
	}
	whole := w.Identifier && !w.Part
	return !whole || i+1 == len(list) || !list[i+1].Part || list[i+1].Position != w.Position
}

// guess is a word that an unknown one may stand for.
type guess struct {
	word      words.QueryWord
	documents int
}

// correct finds the known word one typing error away that most documents have, or
// else the two known words that stand together in the unknown one. shown is what a person is told
// that the word was taken for, "" if there is no guess.
func (b *base) correct(ctx context.Context, w words.QueryWord, table *embed.Table) (guesses []guess, shown string, err error) {
	found, pairs := words.Variants(w.Raw), words.Splits(w.Raw)
	// What the table has as a whole is a word, or a usual mistake, whose vector is near that
	// of the word.
	if inTable(table, w.Raw) {
		found = slices.DeleteFunc(found, func(v words.QueryWord) bool { return wordLikeness(table, w.Raw, v.Raw) < correctedLikeness })
		pairs = nil
	}
	hashes := collect.Map(found, func(v words.QueryWord) uint32 { return hash(v.Text) })
	for _, pair := range pairs {
		hashes = append(hashes, hash(pair[0].Text), hash(pair[1].Text))
	}
	if len(hashes) == 0 {
		return nil, "", nil
	}
	frequencies, err := b.frequencies(ctx, hashes, nil)
	if err != nil {
		return nil, "", err
	}
	found = slices.DeleteFunc(found, func(v words.QueryWord) bool { return frequencies[hash(v.Text)] <= 0 })
	slices.SortStableFunc(found, func(x, y words.QueryWord) int {
		return cmp.Or(frequencies[hash(y.Text)]-frequencies[hash(x.Text)], slip(w.Raw, x.Raw)-slip(w.Raw, y.Raw))
	})
	for _, v := range found {
		// A number of 32 bits may be another word's: of the 500 looked up here one in
		// a hundred corrections would be.
		there, err := column[uint32](sqlite.Brief(ctx), b.read, "SELECT rowid FROM texts WHERE texts MATCH ? LIMIT 1", quote(v.Text))
		if err != nil {
			return nil, "", err
		}
		if len(there) > 0 {
			return []guess{{v, frequencies[hash(v.Text)]}}, v.Raw, nil
		}
	}
	best, least := -1, 0
	for i, p := range pairs {
		if n := min(frequencies[hash(p[0].Text)], frequencies[hash(p[1].Text)]); n > least {
			best, least = i, n
		}
	}
	if best < 0 {
		return nil, "", nil
	}
	guesses = collect.Map(pairs[best][:], func(p words.QueryWord) guess { return guess{p, frequencies[hash(p.Text)]} })
	return guesses, pairs[best][0].Raw + " " + pairs[best][1].Raw, nil
}

// slip orders variants of the same frequency, many of which have the same stem,
// so that the most likely one, with the lowest number, is shown: letters exchanged, another
// letter, one forgotten, one too many. A variant is one such error away from raw.
func slip(raw, variant string) int {
	switch {
	case len(variant) > len(raw):
		return 2
	case len(variant) < len(raw):
		return 3
	}
	for i := range len(raw) {
		if raw[i] != variant[i] {
			if i+1 < len(raw) && raw[i] == variant[i+1] && raw[i+1] == variant[i] {
				return 0
			}
			break
		}
	}
	return 1
}

// frequencies counts the documents that have each word, of some projects or, for nil, of all. A
// word that none has is not in the map.
func (b *base) frequencies(ctx context.Context, hashes []uint32, projects []uint32) (found map[uint32]int, err error) {
	found = make(map[uint32]int, len(hashes))
	if len(hashes) == 0 {
		return found, nil
	}
	query, args := "SELECT term, sum(documents) FROM terms WHERE term IN (SELECT value FROM json_each(?))", []any{jsonList(hashes)}
	if projects != nil {
		query, args = query+" AND project IN (SELECT value FROM json_each(?))", append(args, jsonList(projects))
	}
	var term uint32
	var n int
	for range selected(sqlite.Brief(ctx), b.read, &err, query+" GROUP BY term", args...).Into(&term, &n) {
		found[term] = n
	}
	return found, err
}

// jsonList returns numbers as a JSON array, for json_each.
func jsonList(numbers []uint32) string {
	list, _ := json.Marshal(numbers) // never fails
	return string(list)
}

// projectNumbers returns the numbers of the filter's projects that the index
// knows: nil when the filter is for all projects, empty when the index knows none of its.
func (c *catalogue) projectNumbers(f Filter) []uint32 {
	if len(f.Projects) == 0 {
		return nil
	}
	numbers := make([]uint32, 0, len(f.Projects))
	for _, p := range f.Projects {
		if n, ok := c.projects[p]; ok {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// quote makes a string of FTS5's syntax of a word. What ends a string in C ends
// it in FTS5 too.
func quote(word string) string {
	return `"` + quoted.Replace(word) + `"`
}

var quoted = strings.NewReplacer(`"`, `""`, "\x00", " ")

// words lists the query's words that a document has: those of the bits in rank.Score.Matched.
func (q *query) words(matched uint64) []string {
	var list []string
	for i, t := range q.terms {
		if i < 64 && matched>>i&1 == 1 {
			list = append(list, t.raw)
		}
	}
	return list
}

// pieceShares returns the pieces of the query's words and how much each counts: the
// inverse frequency of its word, shared by the pieces of the word, all together 1. The collection has
// documents.
func (q *query) pieceShares(table *embed.Table) (pieces []uint16, shares []float64) {
	sum := 0.0
	for _, t := range q.terms {
		if t.Alone {
			continue // the pieces of its two words are there too
		}
		cut := table.Pieces(t.raw)
		if len(cut) == 0 {
			continue
		}
		weight := math.Log(1 + float64(q.collection.Documents)/(1+float64(t.Documents)))
		sum += weight
		for _, p := range cut {
			pieces = append(pieces, p)
			shares = append(shares, weight/float64(len(cut)))
		}
	}
	for i := range shares {
		shares[i] /= sum
	}
	return pieces, shares
}
