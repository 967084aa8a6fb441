package words

import (
	"slices"
	"strings"
)

// A Form is another form of a word: "handle" of "handlers", "configuration" of "config".
type Form struct {
	// Raw is the form as it is written, Text its stem.
	Raw, Text string
	// Of is the word that the form was made of: the given one, or that one without the
	// ending of a plural or a verb; "" for a listed form.
	Of string
	// Listed says that the form is in the list of abbreviations. One that follows from a rule
	// may have another meaning ("direct" of "director").
	Listed bool
}

// abbreviations are words that programmers shorten, each row a short form and what it
// stands for; plurals have the stem of their singular. A form that is as often a word of its
// own is left out (int, char, stat).
var abbreviations = abbreviationTable(`
	addr address
	admin administrator administration
	app application
	arch architecture
	arg argument
	async asynchronous
	attr attribute
	auth authentication authorization
	calc calculate calculation
	cert certificate
	cfg config configuration configure
	ci cicd
	cmd command
	conf config configuration
	config configuration configure
	conn connection
	coord coordinate
	cred credential
	ctx context
	db database
	dedup deduplicate deduplication
	def definition
	del delete deletion
	deps dependency
	desc description
	dev development developer
	dict dictionary
	dir directory
	doc document documentation
	dup duplicate
	elem element
	env environment
	err error
	eval evaluate evaluation
	exec execute execution
	expr expression
	ext extension
	fmt format formatter
	func function
	gen generate generation
	hdr header
	hw hardware
	id identifier
	idx index
	impl implementation implement
	info information
	init initialize initialization initial
	k8s kubernetes
	len length
	lib library
	loc location
	max maximum
	mem memory
	min minimum
	misc miscellaneous
	msg message
	multi multiple
	num number
	obj object
	orig original
	param parameter
	perf performance
	perm permission
	pkg package
	pref preference
	prev previous
	proc process
	prod production
	proto protocol
	ptr pointer
	ref reference
	regex regexp
	repo repository
	req request
	res response resource
	resp response
	sec security
	seq sequence
	sock socket
	spec specification
	src source
	stats statistics
	str string
	struct structure
	sync synchronize synchronization
	sys system
	temp temporary
	tmp temporary temp
	tz timezone
	ui interface
	val value
	var variable
	ver version
`)

// abbreviationTable reads rows of a short form and the long ones, and returns the
// others of a row by the stem of each.
func abbreviationTable(rows string) map[string][]Form {
	table := map[string][]Form{}
	for row := range strings.Lines(rows) {
		list := strings.Fields(row)
		for i, word := range list {
			others := list
			if i > 0 { // the long forms of an abbreviation are no forms of each other
				others = list[:1]
			}
			key := stemmed(word)
			for _, other := range others {
				f := Form{Raw: other, Text: stemmed(other), Listed: true}
				if f.Text != key && !slices.ContainsFunc(table[key], func(x Form) bool { return x.Text == f.Text }) {
					table[key] = append(table[key], f)
				}
			}
		}
	}
	return table
}

// minFormed is the shortest word that the rules take an ending from or put one to, in
// letters: shorter ones are too often the beginning of another word.
const minFormed = 3

// endings are those that the stem leaves on a short word, or on every word: Porter's algorithm
// makes "handl" of handle and "handler" of handler.
var endings = []string{"er", "or", "ly", "ure", "ion", "able", "age", "ment", "y", "ty", "ity", "al", "ance", "ness"}

// prefixes turn a verb into another that is about the same.
var prefixes = []string{"re", "un", "de", "pre"}

// Forms returns other forms of a word that have another stem: its abbreviation or what
// it abbreviates, and the words with or without one of the endings and prefixes, of those
// that are known. raw is in lower case, as in [QueryWord]; a nil known knows no word.
func Forms(raw string, known func(word string) bool) []Form {
	own := stemmed(raw)
	forms := append([]Form(nil), abbreviations[own]...)
	if known == nil || len(raw) < minFormed || len(raw) > maxVariant || !letters(raw) {
		return forms
	}
	for _, lemma := range lemmas(raw) {
		if stemmed(lemma) != own || !known(lemma) {
			continue
		}
		for _, word := range formed(lemma) {
			if len(word) < minFormed || !known(word) {
				continue
			}
			if f := (Form{Raw: word, Text: stemmed(word), Of: lemma}); f.Text != own {
				forms = append(forms, f)
			}
		}
	}
	return forms
}

// formed returns what may be a word with an ending or a prefix more or less than word, which must not
// be empty. Some may be there twice, and many are no words.
func formed(word string) (list []string) {
	double := word + word[len(word)-1:] // run, runner
	for _, ending := range endings {
		list = append(append(list, bases(word, ending)...), appended(word, ending))
		if vowel(ending[0]) {
			list = append(list, double+ending)
		}
	}
	for _, p := range prefixes {
		rest, ok := strings.CutPrefix(word, p)
		if !ok {
			rest = p + word
		}
		list = append(list, rest)
	}
	return list
}

// lemmas returns a word without the endings that its stem loses anyway: of handlers,
// handled and handling, as they may have been before.
func lemmas(raw string) []string {
	list := []string{raw}
	for _, ending := range []string{"s", "es", "ed", "ing"} {
		if rest, ok := strings.CutSuffix(raw, ending); ok && len(rest) >= minFormed {
			list = append(list, rest)
			if ending != "s" {
				list = append(list, rest+"e")
				if short, ok := undoubled(rest); ok {
					list = append(list, short)
				}
			}
		}
	}
	if rest, ok := strings.CutSuffix(raw, "ies"); ok {
		list = append(list, rest+"y")
	}
	return list
}

// bases returns the words that a word may be made of by an ending: without it, with the e that
// it took the place of, without the letter that was doubled before it, with a y for an i.
func bases(word, ending string) []string {
	rest, ok := strings.CutSuffix(word, ending)
	if !ok || len(rest) < minFormed {
		return nil
	}
	list := []string{rest, rest + "e"}
	if short, ok := undoubled(rest); ok {
		list = append(list, short)
	}
	if stem, ok := strings.CutSuffix(rest, "i"); ok {
		list = append(list, stem+"y")
	}
	return list
}

// appended returns a word with an ending; one that begins with a vowel takes the place of a
// final e.
func appended(word, ending string) string {
	if rest, ok := strings.CutSuffix(word, "e"); ok && vowel(ending[0]) {
		return rest + ending
	}
	return word + ending
}

func vowel(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 }

// undoubled returns a word without the second of its last two letters, if they are equal and minFormed
// letters are left.
func undoubled(word string) (string, bool) {
	n := len(word)
	if n > minFormed && word[n-1] == word[n-2] {
		return word[:n-1], true
	}
	return "", false
}

const alphabet = "abcdefghijklmnopqrstuvwxyz"

// letters reports whether s has the letters a to z only.
func letters(s string) bool { return strings.Trim(s, alphabet) == "" }
