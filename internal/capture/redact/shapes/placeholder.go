package shapes

import "strings"

// PathLike reports whether v, which is not empty, is a path, an address or a version, of which
// package assign masks the secrets alone (a URL's password).
func PathLike(v string) bool {
	switch v[0] {
	case '/', '.', '~': // base64 may begin so too, but has '+' or '=' in it, or is random
		return strings.IndexByte(v, '+') < 0 && strings.IndexByte(v, '=') < 0 && strings.Count(v, "/") >= 1 && !Random(v)
	}
	if strings.Trim(v, "0123456789.") == "" && strings.IndexByte(v, '.') > 0 {
		return true // an address, a version, an object identifier
	}
	return strings.Contains(v, "://") || len(v) > 3 && v[1] == ':' && v[2] == '\\'
}

// standIns are words, and names of types, that stand where a secret could.
const standIns = " " +
	"true false null nil none undefined string str text char varchar bool boolean int " +
	"integer number any object bytes byte secretstr optional required password passwd " +
	"token secret secrets key apikey api_key unknown void never hidden masked redacted " +
	"empty todo tbd yes no on off self this props input ctx err error value example " +
	"optional[str] securestring chararray "

// Placeholder reports whether a value stands for a secret: "", a type, a literal, a
// word such as "password" in any letter case, or a reference.
func Placeholder(v string) bool {
	if len(v) < 64 { // more than any stand-in has
		var lower [64]byte
		n := copy(lower[:], v)
		for i := range n {
			if IsUpper(lower[i]) {
				lower[i] |= 0x20
			}
		}
		word := strings.TrimRight(View(lower[:n]), "!?,;|.")
		if word == "" || Listed(standIns, word) {
			return true
		}
		if strings.HasPrefix(word, "your") && (len(word) == 4 || !IsAlnum(word[4])) ||
			strings.HasPrefix(word, "process.env") || strings.HasPrefix(word, "os.environ") || strings.HasPrefix(word, "env.") ||
			strings.HasPrefix(word, "import.meta.") || strings.HasPrefix(word, "secrets.") || strings.HasPrefix(word, "config.") {
			return true
		}
	}
	return Reference(v)
}

// Reference reports whether a value refers to a secret elsewhere or hides one: a variable, a
// template, stars, a mask; also "".
func Reference(v string) bool {
	if v == "" || strings.HasPrefix(v, MaskStart[:len(MaskStart)-1]) { // a mask, or what a decoded window has of one
		return true
	}
	last := v[len(v)-1]
	switch v[0] {
	case '$', '{':
		// $VAR, ${VAR}, $(command), {{ template }}; a password may start with $ too, and
		// Jenkins puts what it has encrypted into braces.
		return len(v) == 1 || v[1] == '{' || v[1] == '(' || v[0] == '{' && last != '}' || Identifier(strings.TrimRight(v[1:], "}")) || v[0] == '{' && strings.ContainsAny(v, " :,\"'")
	case '\\':
		return Bracket(v, 0, '<') > 0 // \u003cyour password\u003e
	case '<':
		return last == '>' || strings.Contains(v, "%>")
	case '#':
		return len(v) > 1 && v[1] == '{'
	case '%': // %s and %(name)s of formats, %NAME% of Windows
		return len(v) == 2 || len(v) > 1 && v[1] == '(' || last == '%' || strings.HasPrefix(v, "%s") || strings.HasPrefix(v, "%v")
	case '@', ':', '&', '*': // @param, :param, &variable, *pointer, unless it is made like a password
		return Identifier(v[1:]) && (!Mixed(v) || Wordy(v)) || strings.Trim(v, "*") == ""
	case '!':
		return Only(v[1:], Letter) && (len(v) > 1 && IsUpper(v[1]) || v == "!vault") // a tag of YAML
	}
	// Dots, stars, crosses.
	return strings.Trim(v, v[:1]) == "" && !IsDigit(v[0]) || strings.HasSuffix(v, "...") || strings.HasSuffix(v, "…") ||
		strings.Contains(v, "****") || strings.Contains(v, "xxxx") || strings.Contains(v, "XXXX")
}

// Identifier reports whether v is a name or the path of a field (a.b.c, a->b, A::b).
func Identifier(v string) bool {
	if v == "" || !IsLower(v[0]|0x20) && v[0] != '_' {
		return false
	}
	for i := range len(v) {
		if c := v[i]; !IsAlnum(c) && !OneOf(c, "_.:>") && (c != '-' || i+1 == len(v) || v[i+1] != '>') {
			return false
		}
	}
	return true
}

// Sentence reports whether v is prose: the value of a name such as "password" may
// be a label ("Enter your password"). It has a blank (three if it begins with a small letter), no
// digits and no signs that passwords have.
func Sentence(v string) bool {
	if blanks := strings.Count(v, " "); blanks < 1 || !IsUpper(v[0]) && v[0] < 0x80 && blanks < 3 {
		return false
	}
	return !strings.ContainsAny(v, "0123456789=+/$#@^&~<>{}\\|_")
}
