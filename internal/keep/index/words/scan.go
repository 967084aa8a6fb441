package words

import (
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/text/runes"
)

const (
	// maxWord is the longest word in bytes. Longer ones are keys, hashes and
	// encoded data, which nobody types; their beginning identifies them.
	maxWord = 64
	// maxCuts bounds the parts of one identifier. What goes on after that is
	// the next identifier, so that a megabyte of joined words loses none.
	maxCuts = 24
)

// class is the role of a character at the borders of words.
type class uint8

const (
	separator class = iota
	lower
	upper
	digit
	joiner // - and _, which join when letters or digits stand on both sides
	dot
	quote
)

var classes = func() (t [utf8.RuneSelf]class) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = lower, upper
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = digit
	}
	t['-'], t['_'], t['.'], t['\''] = joiner, joiner, dot, quote
	return t
}()

// A cut is a place where an identifier falls into parts.
type cut struct {
	at   int // offset in the identifier
	kind cutKind
}

type cutKind uint8

// The kinds of cut, the deepest first.
const (
	versionCut cutKind = iota // 1.2|.3
	camelCut                  // user|Service
	joinerCut                 // user|_service
	dotCut                    // user_service|.go
)

// analyser reads texts and collects their words.
type analyser struct {
	position int
	found    []found
	arena    []byte // the words' texts, so that they are one allocation
	raws     []byte // the words before stemming, for queries
	keepRaw  bool

	// The identifier that is being read, in lower case without what joins it.
	id     []byte
	cuts   []cut
	run    int   // where its last run of letters and digits begins
	before class // of the last character but one of the run
	last   class // of the last
}

// found is a word as offsets into the arenas.
type found struct {
	from, to       int
	rawFrom, rawTo int
	position       int
	part           bool
	identifier     bool
}

// newAnalyser returns an analyser with room for the words of a text of size bytes.
// keepRaw also keeps the words as they are before stemming.
func newAnalyser(size int, keepRaw bool) *analyser {
	return &analyser{
		found: make([]found, 0, size/5+4), // an English word with its space has six bytes
		arena: make([]byte, 0, size+size/4+16),
		id:    make([]byte, 0, 2*maxWord),
		cuts:  make([]cut, 0, maxCuts),

		keepRaw: keepRaw,
	}
}

// analyse appends the words of s.
func (a *analyser) analyse(s string) {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			i = a.readRune(s, i)
			continue
		}
		switch k := classes[c]; k {
		case lower:
			if c == 's' && a.last == upper && !lowerAt(s, i+1) {
				k = upper // the s of URLs is no beginning of a word
			}
			a.add(c, k)
		case upper:
			a.add(c+'a'-'A', k)
		case digit:
			a.add(c, k)
		case separator:
			if len(a.id) > 0 {
				a.symbol(s[i:])
				a.end()
			}
		default:
			i = a.join(s, i, k, 1)
			continue
		}
		i++
	}
	a.end()
}

// add appends a letter or digit in lower case, of class k before, to the identifier, except to a run
// that is maxWord bytes long.
func (a *analyser) add(c byte, k class) {
	if len(a.id)-a.run < maxWord {
		a.camel(k)
		a.id = append(a.id, c)
	}
}

// camel notes where a part begins inside a run of letters: fooBar, HTTPServer,
// sha256Sum. k is the class of the character that comes next.
func (a *analyser) camel(k class) {
	n := len(a.id)
	switch {
	case n == a.run:
		a.before, a.last = separator, k
		return
	case a.hex(): // its letters are no words
	case k == upper && a.last == lower:
		a.cutAt(n, camelCut)
	case k == lower && a.last == upper && (a.before == upper || a.before == digit):
		// The last capital belongs to what follows: HTTP|Server, sha256|Sum.
		from := n - 1
		for from > a.run && a.id[from]&0xc0 == 0x80 {
			from--
		}
		a.cutAt(from, camelCut)
	}
	a.before, a.last = a.last, k
}

// hex reports whether the run is a hexadecimal number.
func (a *analyser) hex() bool {
	return len(a.id) >= a.run+2 && a.id[a.run] == '0' && a.id[a.run+1] == 'x'
}

// cutAt notes a place, not before the last one, at which the identifier can be divided; those beyond
// maxCuts are dropped.
func (a *analyser) cutAt(at int, kind cutKind) {
	if len(a.cuts) < cap(a.cuts) {
		a.cuts = append(a.cuts, cut{at, kind})
	}
}

// join reads a character of width bytes that may join two runs, and returns
// where to go on. Joiners take half of maxCuts, so that the last runs have room for theirs.
func (a *analyser) join(s string, i int, k class, width int) int {
	next := i + width
	if len(a.id) == 0 || !wordAt(s, next) || len(a.id) > maxWord || len(a.cuts) >= maxCuts/2 {
		a.end()
		return next
	}
	switch {
	case k == quote:
		// Parser's is a parser; don't is one word.
		if (s[next] == 's' || s[next] == 'S') && !wordAt(s, next+1) {
			return next + 1
		}
		return next
	case k == dot && a.last == digit && s[next] >= '0' && s[next] <= '9':
		// 1.2.3 stays a number of its own: it is written with v for the dots,
		// because words have letters and digits only.
		a.id = append(a.id, 'v')
		a.cutAt(len(a.id)-1, versionCut)
		return next
	case k == dot:
		a.cutAt(len(a.id), dotCut)
	default:
		a.cutAt(len(a.id), joinerCut)
	}
	a.run = len(a.id)
	return next
}

// symbol gives the languages C++ and C# words of their own.
func (a *analyser) symbol(rest string) {
	if len(a.id) != 1 || a.id[0] != 'c' {
		return
	}
	switch {
	case len(rest) >= 2 && rest[:2] == "++" && !wordAt(rest, 2):
		a.id = append(a.id, "pp"...)
	case rest[0] == '#' && !wordAt(rest, 1):
		a.id = append(a.id, "sharp"...)
	}
}

// wordAt reports whether a letter or digit of a spaced script begins at s[i].
func wordAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	if c := s[i]; c < utf8.RuneSelf {
		k := classes[c]
		return k == lower || k == upper || k == digit
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !paired(r)
}

func lowerAt(s string, i int) bool {
	return i < len(s) && s[i] < utf8.RuneSelf && classes[s[i]] == lower
}

// readRune reads the character beyond ASCII at s[i], or the run of pairs that
// begins there, and returns where to go on.
func (a *analyser) readRune(s string, i int) int {
	r, width := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == '’':
		return a.join(s, i, quote, width)
	case paired(r):
		a.end()
		return a.pairs(s, i)
	case r >= '！' && r <= '～': // ASCII as wide as a Chinese character
		c := byte(r - '！' + '!')
		switch k := classes[c]; k {
		case lower, digit:
			a.add(c, k)
		case upper:
			a.add(c+'a'-'A', k)
		default:
			a.end()
		}
	case unicode.IsUpper(r) || unicode.IsTitle(r):
		a.addRune(unicode.ToLower(r), upper)
	case unicode.IsLetter(r):
		a.addRune(r, lower)
	case unicode.IsDigit(r):
		a.addRune(r, digit)
	case unicode.Is(unicode.Mc, r) && len(a.id) > 0:
		a.addRune(r, a.last)
	case ignored(r):
	default:
		a.end()
	}
	return i + width
}

// addRune adds a letter or digit, folded, to the identifier, except to a run that is
// maxWord bytes long.
func (a *analyser) addRune(r rune, k class) {
	if len(a.id)-a.run > maxWord-utf8.UTFMax {
		return
	}
	a.camel(k)
	if to, ok := plain[r]; ok {
		a.id = append(a.id, to...)
		return
	}
	a.id = utf8.AppendRune(a.id, r)
}

// pairs reads a run of characters that are searched in pairs; one that stands
// alone is a word by itself.
func (a *analyser) pairs(s string, i int) int {
	before := -1 // where the character before begins
	at := i
	for at < len(s) {
		r, width := utf8.DecodeRuneInString(s[at:])
		if !paired(r) {
			break
		}
		if before >= 0 {
			a.put([]byte(s[before:at+width]), false)
			a.position++
		}
		before, at = at, at+width
	}
	if before == i {
		a.put([]byte(s[i:at]), false)
		a.position++
	}
	return at
}

// end closes the identifier that is being read and collects its words: the
// whole, what stands between its dots, between its joiners, and its camelCase
// parts, each once.
func (a *analyser) end() {
	if len(a.id) == 0 {
		return
	}
	if len(a.cuts) == 0 {
		a.put(a.id, false)
	} else {
		a.put(a.span(0, len(a.id)), false)
		a.parts(dotCut)
		a.parts(joinerCut)
		a.parts(camelCut)
		a.versions()
	}
	a.position++
	a.id, a.cuts, a.run = a.id[:0], a.cuts[:0], 0
	a.before, a.last = separator, separator
}

// parts collects what stands between the cuts of a level and above, except what
// a higher level has collected.
func (a *analyser) parts(level cutKind) {
	const edge = dotCut + 1
	from, left := 0, edge
	for i := 0; i <= len(a.cuts); i++ {
		to, right := len(a.id), edge
		if i < len(a.cuts) {
			to, right = a.cuts[i].at, a.cuts[i].kind
		}
		if right < level {
			continue
		}
		switch {
		case left > level && right > level, to == from: // a higher level has it, or it is empty
		case level == camelCut && to-from == 1 && left > camelCut:
			// One letter before a name belongs to it as well: OAuth|Token, I|Service.
			if end, kind := a.nextCut(i+1, level); kind == camelCut {
				a.put(a.span(from, end), true)
			}
		default:
			a.put(a.span(from, to), true)
		}
		from, left = to, right
	}
}

// nextCut returns the first cut of a level and above from index i on.
func (a *analyser) nextCut(i int, level cutKind) (at int, kind cutKind) {
	for ; i < len(a.cuts); i++ {
		if a.cuts[i].kind >= level {
			return a.cuts[i].at, a.cuts[i].kind
		}
	}
	return len(a.id), dotCut
}

// versions collects the beginnings of version numbers, so that 1.2 finds 1.2.3.
func (a *analyser) versions() {
	from, dots := 0, 0
	for _, c := range a.cuts {
		if c.kind != versionCut {
			from, dots = c.at, 0
			continue
		}
		if dots++; dots > 1 {
			a.put(a.span(from, c.at), true)
		}
	}
}

// span returns a stretch of the identifier, the v before a version number left out.
func (a *analyser) span(from, to int) []byte {
	if to-from > 2 && a.id[from] == 'v' && classes[a.id[from+1]&0x7f] == digit {
		for _, c := range a.cuts {
			if c.kind == versionCut && c.at > from && c.at <= to {
				return a.id[from+1 : to]
			}
		}
	}
	return a.id[from:to]
}

// put collects a word, which is in lower case, by its stem, at the present position; what exceeds
// maxWord bytes is cut off. part says that it is a part of the identifier.
func (a *analyser) put(word []byte, part bool) {
	if len(word) > maxWord {
		word = []byte(runes.FirstBytes(string(word), maxWord))
	}
	f := found{from: len(a.arena), position: a.position, part: part, identifier: len(a.cuts) > 0}
	if a.keepRaw {
		f.rawFrom = len(a.raws)
		a.raws = append(a.raws, word...)
		f.rawTo = len(a.raws)
	}
	a.arena = append(a.arena, word...)
	f.to = f.from + stem(a.arena[f.from:])
	a.arena = a.arena[:f.to]
	a.found = append(a.found, f)
}

// words returns what was collected.
func (a *analyser) words() []Word {
	text := string(a.arena)
	out := make([]Word, len(a.found))
	for i, f := range a.found {
		out[i] = Word{Text: text[f.from:f.to], Position: f.position, Part: f.part}
	}
	return out
}
