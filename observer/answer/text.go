package answer

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"claudemem/text"
)

// terminalSequence matches the colours and the like of a terminal; of a malformed
// one only the beginning.
var terminalSequence = regexp.MustCompile(`\x1b\[(?:[ -?]{0,31}[@-~])?`)

// normalise returns s as valid UTF-8 with "\n" line ends and without control
// characters, terminal colours, byte order marks and characters that change the
// direction of text.
func normalise(s string) string {
	if plainASCII(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	s = terminalSequence.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		if text.Unsafe(r) {
			return -1
		}
		return r // an invalid byte is U+FFFD
	}, s)
}

// plainASCII reports whether s is ASCII that normalise returns unchanged, as most
// answers are.
func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// entities are the named entities that models write; all need their semicolon, so
// that "?a=1&copy=2" stays unchanged.
var entities = map[string]string{
	"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'", "nbsp": " ",
	"hellip": "…", "mdash": "—", "ndash": "–", "bull": "•", "middot": "·",
	"lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "laquo": "«", "raquo": "»",
	"larr": "←", "rarr": "→", "harr": "↔", "rArr": "⇒", "times": "×", "deg": "°",
	"copy": "©", "reg": "®", "trade": "™", "euro": "€", "sect": "§", "para": "¶",
	"le": "≤", "ge": "≥", "ne": "≠", "plusmn": "±", "micro": "µ",
	"auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü", "szlig": "ß",
	"eacute": "é", "egrave": "è", "agrave": "à", "ccedil": "ç", "ntilde": "ñ",
	"lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]", "sol": "/", "grave": "`", "Tab": "\t", "NewLine": "\n",
}

// maxEntity is the longest entity between '&' and ';', in bytes.
const maxEntity = 10

// decode replaces entities. One that was escaped repeatedly (&amp;lt;) becomes its
// first character: models copy escaped input and escape it.
func decode(s string) string {
	at := strings.IndexByte(s, '&')
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for at >= 0 {
		b.WriteString(s[:at])
		s = s[at+1:]
		escapes := 0
		for strings.HasPrefix(s[escapes:], "amp;") || strings.HasPrefix(s[escapes:], "#38;") {
			escapes += 4
		}
		char, size := entity(s[escapes:])
		if size == 0 {
			b.WriteByte('&') // also of "amp;amp;" without more behind it
			s = s[escapes:]
		} else {
			b.WriteString(char)
			s = s[escapes+size:]
		}
		at = strings.IndexByte(s, '&')
	}
	b.WriteString(s)
	return b.String()
}

// entity returns the character of an entity without its '&', and the entity's
// size, 0 for none.
func entity(s string) (char string, size int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity+1)], ';')
	if end < 1 {
		return "", 0
	}
	if s[0] != '#' {
		char, ok := entities[s[:end]]
		if !ok {
			return "", 0
		}
		return char, end + 1
	}
	digits, base := s[1:end], 10
	if digits != "" && (digits[0] == 'x' || digits[0] == 'X') {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return "", 0
	}
	r := rune(n)
	if n > utf8.MaxRune || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	if r == '\r' {
		r = '\n'
	}
	if text.Unsafe(r) {
		return "", end + 1
	}
	return string(r), end + 1
}

// paragraph trims s and its lines, removes the indentation that the lines share
// from the second on (that of the XML), and joins empty lines.
func paragraph(s string) string {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	indent := -1
	for i, l := range lines {
		l = strings.TrimRight(l, " \t\u00a0")
		lines[i] = l
		if i == 0 || l == "" {
			continue
		}
		n := len(l) - len(strings.TrimLeft(l, " \t"))
		if indent < 0 || n < indent {
			indent = n
		}
	}
	kept := lines[:1]
	for _, l := range lines[1:] {
		if l == "" {
			if kept[len(kept)-1] != "" {
				kept = append(kept, "")
			}
			continue
		}
		kept = append(kept, l[indent:])
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// nothings are the values that models write into empty fields.
var nothings = map[string]bool{
	"null": true, "none": true, "nil": true, "undefined": true, "n/a": true, "na": true, "n.a": true,
	"nothing": true, "empty": true, "not applicable": true, "-": true, "--": true, "–": true, "—": true,
	"...": true, "…": true, "[]": true, "{}": true, `""`: true, "''": true, "[object object]": true,
	"no files": true, "no facts": true, "no concepts": true, "keine": true, "aucun": true, "ninguno": true,
}

// isNothing reports whether a value means that there is none.
func isNothing(s string) bool {
	if len(s) > 40 {
		return false
	}
	if s == "" || nothings[s] {
		return true
	}
	bare := strings.ToLower(strings.Trim(s, " \n\t.!()[]<>*_`\"'"))
	return bare == "" || nothings[bare]
}
