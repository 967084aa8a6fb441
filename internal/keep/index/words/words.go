package words

import (
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A Word is a searchable word of a text.
type Word struct {
	// Text is the stem in lower case: what is compared. It has letters and digits only.
	Text string
	// Position counts the words of a text from 0. The parts of an identifier share
	// the position of the identifier.
	Position int
	// Part says that it is a part of an identifier whose whole is a word too.
	Part bool
}

// Text returns the words of s in order. Their texts share memory: a caller that
// keeps a few of them for long clones those.
func Text(s string) []Word {
	a := newAnalyser(len(s), false)
	a.analyse(s)
	return a.words()
}

// Paths returns the words of file paths: each segment, a file's name with and
// without its extension, and their parts. A folder that several of the paths
// begin with counts once. Words of different paths never stand together.
func Paths(paths []string) []Word {
	size := 0
	for _, p := range paths {
		size += len(p)
	}
	a := newAnalyser(size, false)
	seen := make(map[string]bool, len(paths)*4)
	for _, p := range paths {
		for from := 0; from < len(p); {
			to := from
			for to < len(p) && p[to] != '/' && p[to] != '\\' {
				to++
			}
			// The prefix and not the segment: a/test and b/test are two folders. Beyond maxPrefix every
			// segment counts.
			prefix := p[:min(to, maxPrefix)]
			if to > maxPrefix || to > from && !seen[prefix] {
				seen[prefix] = true
				a.analyse(p[from:to])
			}
			from = to + 1
		}
		a.position += pathGap
	}
	return a.words()
}

// pathGap is the least distance between the words of two paths: more than that of
// words that count as neighbours.
const pathGap = 16

// maxPrefix bounds the part of a path in which folders are recognised, so that a
// path of a megabyte is read in linear time.
const maxPrefix = 512

// Hash returns the number that stands for a word in stored documents: FNV-1a. It
// never changes.
func Hash(word string) uint32 {
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return h
}

// PathForm returns the form in which paths and the names of projects are compared: with / between
// segments, in lower case, and with composed letters, which macOS takes apart.
func PathForm(path string) string {
	composed := norm.NFC.String(strings.ReplaceAll(path, `\`, "/"))
	return norm.NFC.String(strings.ToLower(composed)) // again: there is an ǰ, but no capital of it
}

// PathPart returns the form of a part of a path that somebody typed: a path has the part if its
// form contains it. A slash at the end stays, since it means a folder. Nothing has the part ".".
func PathPart(typed string) string {
	form := PathForm(typed)
	switch part := path.Clean(form); {
	case part == "/":
		return "."
	case strings.HasSuffix(form, "/"):
		return part + "/"
	default:
		return part
	}
}

// stops are the words of a question that say nothing about what is looked for.
// English as in the usual short lists, and what people write around a search
// (find, show); German without those that are English words too (die, war, so).
var stops = func() map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(`
a about again am an and any anything are as at be because been being but by can cant could
did didnt do does doesnt doing dont each either else ever every everything few for from
had has have having he her here hers him his how i if in into is isnt it its ive just lets like
may me might mine more most much must my myself no nor not of on once one or other our ours out
over own please same shall she should show since so some somehow something such than that thats the
their them then there these they thing things this those though through to too under until up
us very was wasnt we were what whats when where wheres whether which while who whom whose why
will with within without wont would wouldnt yet you your yours find tell
aber als am auch auf aus bei beim bis das dass dem den der des doch du durch ein eine einem
einen einer es für gegen haben hat hatte ich ihr im ist kann können mit nach nicht noch nur
ob oder ohne sich sie sind über um und uns unser vom von vor warum wann wenn wer werden wie wir wird wo
wurde wurden zu zum zur zwischen`) {
		m[fold(word)] = true
	}
	return m
}()

// fold returns a word as it is before stemming.
func fold(word string) string {
	a := newAnalyser(len(word), true)
	a.analyse(word)
	return string(a.raws)
}

// IsStop reports whether a word, in lower case and not stemmed, is one that
// queries are better off without.
func IsStop(word string) bool { return stops[word] }
