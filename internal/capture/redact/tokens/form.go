package tokens

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
)

// maxRun is how many bytes of a run without a bound are looked at before the
// rest of the token is known to be one: prefixes within a long run cost no more.
const maxRun = 256

// MatchBody returns where the body of a token that starts at i ends, false when
// none is there. Of several forms the longest counts.
func (k *Kind) MatchBody(s string, i int) (end int, ok bool) {
	end, open, ok := k.matchStart(s, i)
	if !ok {
		return 0, false
	}
	return extend(s, end, open), true
}

// matchStart is MatchBody without what exceeds maxRun; open is the class of the
// run without a bound at the end, which may go on there, 0 for none.
func (k *Kind) matchStart(s string, i int) (end int, open uint16, ok bool) {
	_, body := k.Forms()
	if body == "" {
		return i, 0, ends(s, i, 0, k)
	}
	for more := true; more; {
		var form string
		form, body, more = strings.Cut(body, " ")
		at, class, openRun, matched := matchForm(s, i, form)
		if !matched || openRun == 0 && !ends(s, at, class, k) || ok && at <= end {
			continue
		}
		end, open, ok = at, openRun, true
	}
	return end, open, ok
}

// extend returns the end of a token whose last run, of class open, goes on at end; end for 0.
func extend(s string, end int, open uint16) int {
	if open == 0 {
		return end
	}
	return shapes.SkipBack(s, end, shapes.RunEnd(s, end, open), ".") // that of the sentence
}

// ends reports whether a token can end at i, after a run of class.
func ends(s string, i int, class uint16, k *Kind) bool {
	if i == len(s) {
		return true
	}
	c := s[i]
	switch {
	case k.Flags&Alone != 0:
		return strings.IndexByte(" \t\r\n\v\f\"'`;", c) >= 0 || c == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r')
	case k.Names != "":
		return !shapes.IsAlnum(c) && strings.IndexByte("_+=-", c) < 0
	}
	return !shapes.IsAlnum(c) && c != '_' && !shapes.In(c, class)
}

// matchForm matches one form of a body at i (see Kind.Body) and returns where it ends. class is
// that of its last run, 0 for literal text, open the same when that run has no bound. Literal
// letters match in any case.
func matchForm(s string, i int, form string) (end int, class, open uint16, ok bool) {
	for len(form) > 0 {
		if form[0] != '{' {
			if i == len(s) || s[i] != form[0] && (!shapes.IsLetter(s[i]) || s[i]^0x20 != form[0]) {
				return 0, 0, 0, false
			}
			class, i, form = 0, i+1, form[1:]
			continue
		}
		length := strings.IndexByte(form, '}')
		class = shapes.ClassOf(form[1])
		low, high := counts(form[2:length])
		form = form[length+1:]
		open = 0
		limit := min(len(s), i+high)
		if high == 0 {
			limit = len(s)
			if form == "" {
				open, limit = class, min(limit, i+low+maxRun)
			}
		}
		start := i
		i = shapes.RunEnd(s[:limit], i, class)
		if open != 0 {
			i = shapes.SkipBack(s, start, i, ".") // that of the sentence
		}
		if i-start < low {
			return 0, 0, 0, false
		}
	}
	return i, class, open, true
}

// counts returns the bounds of a run: of "32", of "20-40" or of "16+", whose
// upper bound is 0.
func counts(text string) (low, high int) {
	for i := range len(text) {
		switch c := text[i]; c {
		case '+':
			return low, 0
		case '-':
			_, high = counts(text[i+1:])
			return low, high
		default:
			low = low*10 + int(c-'0')
		}
	}
	return low, low
}

// formLength returns the length of a form whose runs are of fixed length.
func formLength(form string) (n int) {
	for len(form) > 0 {
		if form[0] != '{' {
			n, form = n+1, form[1:]
			continue
		}
		length := strings.IndexByte(form, '}')
		low, _ := counts(form[2:length])
		n, form = n+low, form[length+1:]
	}
	return n
}

// RandomEnough reports whether the entropy of a token exceeds what its kind asks for, and
// for one without a prefix whether it does not read like words if its kind asks for that.
func (k *Kind) RandomEnough(token string) bool {
	if k.Flags&(Near|NotWordy) == Near|NotWordy && shapes.Wordy(token) {
		return false
	}
	return k.Entropy == 0 || 10*shapes.Entropy(token) > float64(k.Entropy)
}
