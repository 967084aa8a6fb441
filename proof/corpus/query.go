package corpus

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"claudemem/internal/memory"
)

// Query is something that a person or an agent would type.
type Query struct {
	Text string
	// Target is the number of the observation whose words it has.
	Target int
	// Project is that of the target.
	Project string
	// File is a file of the target.
	File string
	// Shape is words, paraphrase, identifier, path, error or typo.
	Shape string
}

// Query makes query n.
func (c *Corpus) Query(n int) Query {
	r := c.random(kindQuery, n)
	q := Query{Target: r.IntN(c.observations)}
	o := c.Observation(q.Target)
	q.Project, q.File = o.ProjectPath, o.Files[0].Path
	switch r.IntN(10) {
	case 0:
		q.Shape, q.Text = "path", q.File
		if r.IntN(2) == 0 {
			q.Text = path.Base(q.File)
		}
	case 1, 2:
		q.Shape, q.Text = "identifier", firstName(&o)
		if r.IntN(2) == 0 {
			q.Text += " " + strings.Join(content(r, o.Narrative, 2), " ")
		}
	case 3:
		q.Shape, q.Text = "error", quoted(&o)
	case 4, 5, 6:
		q.Shape = "paraphrase"
		words := content(r, o.Title+" "+o.Narrative, 3+r.IntN(5))
		for i, w := range words {
			if other, ok := synonyms[w]; ok {
				words[i] = other
			}
		}
		q.Text = pick(r, []string{"", "why is ", "how do we ", "what was the "}) + strings.Join(words, " ")
	}
	if q.Text == "" && r.IntN(8) == 0 {
		q.Shape, q.Text = "typo", mistyped(r, content(r, o.Title+" "+o.Narrative, 2+r.IntN(3)))
	}
	if q.Text == "" {
		q.Shape, q.Text = "words", strings.Join(content(r, o.Title+" "+o.Narrative, 2+r.IntN(7)), " ")
	}
	return q
}

// content takes n words that follow each other, function words left out.
func content(r *rand.Rand, text string, n int) []string {
	words := strings.FieldsFunc(text, func(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' })
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 3 || function[strings.ToLower(w)] })
	for i, w := range words {
		if w[1:] == strings.ToLower(w[1:]) { // not the name of a function
			words[i] = strings.ToLower(w)
		}
	}
	if len(words) > n {
		at := r.IntN(len(words) - n + 1)
		words = words[at : at+n]
	}
	return words
}

// mistyped swaps two letters in the longest word.
func mistyped(r *rand.Rand, words []string) string {
	longest := 0
	for i, w := range words {
		if len(w) > len(words[longest]) {
			longest = i
		}
	}
	if w := []byte(words[longest]); len(w) > 4 {
		at := 1 + r.IntN(len(w)-2)
		w[at], w[at+1] = w[at+1], w[at]
		words[longest] = string(w)
	}
	return strings.Join(words, " ")
}

var function = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the and that was with when does not had been for have has its only other are
		before after would every where but were can because which means this each how is in it so to of by`) {
		m[w] = true
	}
	return m
}()

// firstName finds a word that only programs have.
func firstName(o *memory.Observation) string {
	for _, w := range strings.Fields(o.Title + " " + o.Narrative) {
		w = strings.Trim(w, ".,;:\"'()")
		if w == "" || strings.ContainsAny(w, "/:") {
			continue
		}
		if strings.Contains(w, "_") || strings.ToLower(w[1:]) != w[1:] {
			return w
		}
	}
	return ""
}

// quoted is an error message that the narrative cites.
func quoted(o *memory.Observation) string {
	if _, after, ok := strings.Cut(o.Narrative, `"`); ok {
		message, _, _ := strings.Cut(after, `", which`)
		return strings.ReplaceAll(message, `\"`, `"`)
	}
	return ""
}
