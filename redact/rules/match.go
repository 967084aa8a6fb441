package rules

import (
	"slices"
	"strings"
	"unsafe"
)

// A window is a part of a text that a rule has to look at.
type window struct{ rule, start, end int }

// mayMatch reports whether raw JSON has a keyword, or an escape behind which one
// could be.
func (set *ruleSet) mayMatch(raw []byte) bool {
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // looked at only
	for i := 0; ; {
		n := strings.Index(text[i:], `\u00`)
		if n < 0 {
			break
		}
		i += n + 4
		if i+1 < len(text) && text[i] >= '2' && text[i] <= '7' {
			if escape := text[i : i+2]; escape != "3c" && escape != "3e" && escape != "26" && escape != "27" && escape != "7f" {
				return true
			}
		}
	}
	hit := false
	set.eachKeyword(text, func(window) bool {
		hit = true
		return false
	})
	return hit
}

// eachKeyword gives f the window of each keyword in s until it returns false.
func (set *ruleSet) eachKeyword(s string, f func(window) bool) {
	if len(s) < 3 {
		return
	}
	key := uint16(s[0]&31)<<5 | uint16(s[1]&31)
	for i := 2; i < len(s); i++ {
		key = (key<<5 | uint16(s[i]&31)) & (1<<15 - 1)
		if set.starts[key/64]&(1<<(key%64)) == 0 {
			continue
		}
		start := i - 2
		for _, n := range set.byStart[key] {
			k := &set.keywords[n]
			if !keywordAt(s, start, k.text) {
				continue
			}
			r := &set.rules[k.rule]
			if !f(window{k.rule, max(0, start-r.before), min(len(s), start+r.after)}) {
				return
			}
		}
	}
}

// keywordAt reports whether the keyword stands at i, in any case.
func keywordAt(s string, i int, text string) bool {
	switch text {
	case vaultLegacy:
		return startsWith(s[i:], "s.") && run(s[i+2:], alnum) >= 24
	case twilio:
		return strings.HasPrefix(s[i:], "SK") && run(s[i+2:], hexDigit) >= 32
	}
	return startsWith(s[i:], text)
}

// startsWith is strings.HasPrefix without regard to ASCII case; prefix is lower case.
func startsWith(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}

// contains is strings.Contains without regard to ASCII case; sub is lower case.
func contains(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		if startsWith(s[i:], sub) {
			return true
		}
	}
	return false
}

func run(s string, in func(byte) bool) int {
	for i := range min(len(s), 64) {
		if !in(s[i]) {
			return i
		}
	}
	return min(len(s), 64)
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// find returns the secrets in s, in order and apart.
func (set *ruleSet) find(s string) []finding {
	var windows []window
	set.eachKeyword(s, func(w window) bool {
		windows = append(windows, w)
		return true
	})
	if len(windows) == 0 {
		return nil
	}
	slices.SortFunc(windows, func(a, b window) int {
		if a.rule != b.rule {
			return a.rule - b.rule
		}
		return a.start - b.start
	})
	var found []finding
	for i := 0; i < len(windows); {
		w := windows[i]
		for i++; i < len(windows) && windows[i].rule == w.rule && windows[i].start <= w.end; i++ {
			w.end = max(w.end, windows[i].end)
		}
		if r := &set.rules[w.rule]; r.also == "" || contains(s, r.also) {
			found = r.find(s, w.start, w.end, found)
		}
	}
	return merge(found)
}

// find appends the rule's findings in s[start:end].
func (r *rule) find(s string, start, end int, found []finding) []finding {
	for _, m := range r.compile().FindAllStringSubmatchIndex(s[start:end], -1) {
		from, to := m[0], m[1]
		if r.group > 0 {
			from, to = m[2*r.group], m[2*r.group+1]
		} else {
			for g := 2; g < len(m); g += 2 { // the first group that took part
				if m[g] >= 0 && m[g] < m[g+1] {
					from, to = m[g], m[g+1]
					break
				}
			}
		}
		if from < 0 || from >= to {
			continue
		}
		from, to = from+start, to+start
		secret := s[from:to]
		if strings.Contains(secret, redactedStart) || r.entropy > 0 && entropy(secret) <= r.entropy {
			continue
		}
		if to == end { // cut at the window: a token goes on
			for to < len(s) && tokenByte(s[to]) {
				to++
			}
		}
		found = append(found, finding{from, to, r.id})
	}
	return found
}

// redactedStart begins every mask: a text is not masked twice.
const redactedStart = "[redacted:"

func tokenByte(c byte) bool {
	return alnum(c) || strings.IndexByte("+/=_-.", c) >= 0
}
