package assign

import (
	"cmp"
	"strings"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// Secrets whose name is not before an operator: it is in another member of the same
// object, in a tag, in the argument before, in a column's head, or a blank away. A function that
// returns a span and false has found no secret: the span then means nothing.

// Named returns the rule under which the literal v is a secret of the given
// name; "" for none: the name tells none, or v is too short, reads like words or stands for a secret.
func Named(name, v string) string {
	fam := nameFamily(name)
	if fam == famAuthorization {
		fam = famSecret
	}
	if fam != famNone && len(v) >= fam.shortest() && secretLiteral(fam, v[:min(len(v), shapes.MaxValue)], false) {
		return tokens.RuleOf(v[:min(len(v), shapes.MaxQuoted)], fam.rule())
	}
	if rule, end := tokens.OfVendor(name, v, 0); end == len(v) {
		return rule
	}
	return ""
}

// IsValueName reports whether a name says that its value belongs to the name in another
// member: {"name":"DB_PASSWORD","value":"…"}.
func IsValueName(name string) bool {
	return shapes.EqualsOne(name, "value", "val", "default", "stringvalue", "defaultvalue", "default_value")
}

// IsNameName reports whether a name says that its value is a name.
func IsNameName(name string) bool {
	return shapes.EqualsOne(name, "name", "key", "setting", "variable", "parameter")
}

// maxBeside is how far a value is from its name in another member, in bytes.
const maxBeside = 256

// nameBeside returns the name that another member of the same object gives to the value
// s[start:end], where start is that of the word "value"; "" for none.
func nameBeside(s string, start, end int) string {
	low := max(0, start-maxBeside)
	// Before the value, up to where its object begins: a bracket, an empty line.
	for i := start - 1; i > low; i-- {
		switch s[i] {
		case '=', ':':
			_, name := nameBefore(s, i)
			if IsNameName(name) {
				return shapes.WordAt(s, i+1)
			}
			if word := shapes.WordAt(s, i+1); name == "type" && word == "password" {
				return word
			}
			continue
		case '\n':
			if s[i-1] != '\n' {
				continue
			}
		case '{':
			if name := blockLabel(s[low:i]); NamesSecret(name) {
				return name
			}
		case '}', '<', ';', '[':
		default:
			continue
		}
		break
	}
	// Behind the value, the next member only.
	end = shapes.SkipTo(s[:min(len(s), start+shapes.MaxQuoted)], end, "\"',\\ \t\n+")
	stop := min(len(s), end+shapes.MaxName)
	nameEnd := shapes.RunEnd(s[:stop], end, shapes.Ident)
	if !IsNameName(s[end:nameEnd]) {
		return ""
	}
	nameEnd = shapes.SkipTo(s[:stop], nameEnd, "\"'\\ ")
	if nameEnd == stop || s[nameEnd] != ':' && s[nameEnd] != '=' {
		return ""
	}
	return shapes.WordAt(s, nameEnd+1)
}

// blockLabel returns the label of a block or the name of an object whose brace follows:
// variable "db_password" {, "adminPassword": {; "" for none.
func blockLabel(before string) string {
	before = strings.TrimRight(before, " \t\n:")
	if !strings.HasSuffix(before, `"`) {
		return ""
	}
	before = strings.TrimRight(before, `"\`)
	open := strings.LastIndexByte(before, '"')
	if open < 0 {
		return ""
	}
	return before[open+1:]
}

// maxElement is the length of an element's text, or of its opening tag, that is judged, in bytes.
const maxElement = 1024

// Element returns the text of the XML element whose closing tag is at i, if one of these names a
// secret: its own name, an attribute of its opening tag or of the tag around it
// (<setting name="DbPassword"><value>), or the name of that tag. If its text names one, it returns
// the text of the element behind it (<td>Password</td><td>). It is false for none.
func Element(s string, i int) (shapes.Span, bool) {
	nameEnd := shapes.RunEnd(s[:min(len(s), i+2+shapes.MaxName)], i+2, shapes.Ident)
	name, namespace := s[i+2:nameEnd], ""
	if nameEnd < len(s) && s[nameEnd] == ':' {
		namespace = name + ":"
		name = shapes.WordAt(s, nameEnd+1)
		nameEnd += 1 + len(name)
	}
	low := max(0, i-maxElement)
	tagEnd, start, end := i, 0, i
	if last := max(low, low+strings.LastIndexByte(s[low:i], '<')); strings.HasPrefix(s[last:i], "<![CDATA[") {
		tagEnd, start = last, last+len("<![CDATA[")
		if n := strings.Index(s[start:i], "]]>"); n >= 0 {
			end = start + n
		}
	}
	tagEnd = low + strings.LastIndexByte(s[low:tagEnd], '>') + 1
	if tagEnd == low {
		return shapes.Span{}, false
	}
	start = max(start, tagEnd)
	if (name == "key" || !NamesSecret(name)) && !carriesName(name) { // its text may be the name: <td>Password</td><td>
		return nextElement(s, strings.Trim(s[start:end], " \n*:"), nameEnd+1)
	}
	tag := tagBefore(s[:tagEnd], namespace)
	if !strings.HasPrefix(tag, name) { // not its opening tag: it has elements within
		return shapes.Span{}, false
	}
	if carriesName(name) {
		outer := tagBefore(s[:strings.LastIndexByte(s[:tagEnd], '<')], namespace)
		if name = cmp.Or(attributeName(tag), attributeName(outer)); !NamesSecret(name) {
			name = shapes.WordAt(outer, 0)
		}
	}
	start = shapes.SkipTo(s[:end], start, " \t\r\n")
	end = shapes.SkipBack(s, start, end, " \t\r\n")
	if text := s[start:end]; strings.IndexByte(text, '\n') >= 0 { // of several lines, with marks before each
		start, end = longestWord(s, start, end)
	}
	rule := Named(name, s[start:end])
	return shapes.NewSpan(start, end, rule), rule != ""
}

// longestWord returns the bounds of the longest word of s[start:end], the first of equals; 0, 0 if
// all are blanks.
func longestWord(s string, start, end int) (from, to int) {
	for i := start; i < end; {
		word := shapes.RunEnd(s[:end], i, shapes.Visible)
		if word-i > to-from {
			from, to = i, word
		}
		i = word + 1
	}
	return from, to
}

// tagBefore returns the last tag in before, from behind its namespace to its '>'; "" for none, or
// for an empty element. What follows it, such as the marks before a line of a diff, does not count.
func tagBefore(before, namespace string) string {
	before = before[max(0, len(before)-maxElement):]
	open, end := strings.LastIndexByte(before, '<'), strings.LastIndexByte(before, '>')
	if end < open || open < 0 || before[end-1] == '/' {
		return ""
	}
	return strings.TrimPrefix(before[open+1:end], namespace)
}

// carriesName reports whether the name of an element says that an attribute has the name
// of its text.
func carriesName(element string) bool {
	return shapes.EqualsOne(element, "property", "string", "entry", "param", "parameter", "setting", "value", "item", "variable", "arg", "prop")
}

// attributeName returns the value of the attribute of a tag that is a name; "" for none.
func attributeName(tag string) string {
	for i := range len(tag) {
		if tag[i] == '=' {
			if _, name := nameBefore(tag, i); IsNameName(name) {
				return shapes.WordAt(tag, i+1)
			}
		}
	}
	return ""
}

// AtComma returns the argument behind the ',' at i if that before is a name of a
// secret, as in define('DB_PASSWORD', '…'); false for none. It puts the cells of a table
// whose head names a secret into a.Found.
func (a *Ahead) AtComma(s string, i int) (shapes.Span, bool) {
	if i == 0 || i+1 >= len(s) {
		return shapes.Span{}, false
	}
	if !shapes.OneOf(s[i-1], "\"'") {
		if shapes.IsAlnum(s[i-1]) && s[i+1] != ' ' { // name,password
			a.addColumns(s, i)
		}
		return shapes.Span{}, false
	}
	j := shapes.SkipTo(s[:min(len(s), i+32)], i+1, " ")
	if j < len(s) && shapes.IsAlnum(s[j]) || !shapes.OneOf(s[min(j, len(s)-1)], "\"'\\`") {
		return shapes.Span{}, false
	}
	start, name := nameBefore(s, i)
	// "password","name" is the head of a table rather than two arguments, if rows follow.
	if !NamesSecret(name) || j == i+1 && s[i-1] == '"' && a.addColumns(s, i) {
		return shapes.Span{}, false
	}
	q, ok := shapes.QuoteAt(s, j)
	if !ok {
		return shapes.Span{}, false
	}
	end := q.End(s)
	if end == len(s) || s[end] != q.Char && s[end] != '\\' {
		return shapes.Span{}, false
	}
	v := s[q.Start:end]
	rule := Named(name, v)
	return shapes.NewSpan(q.Start, end, rule),
		rule != "" && (setsName(s[:start]) || len(v) >= 8 && !shapes.Wordy(v) && strings.ContainsAny(v, "0123456789") && strings.IndexByte(v, ' ') < 0)
}

// setsName reports whether a call that sets a constant or variable is open: define('.
func setsName(before string) bool {
	before = strings.TrimRight(before, " \"'\\")
	return shapes.EndsInOne(before, "define(", "etenv(", "putenv(", "etProperty(", "etdefault(", "EnvironmentVariable(")
}

// maxTableHead is the length of the first line of a table, in bytes.
const maxTableHead = 1024

// addColumns puts the cells of a table in CSV into a.Found whose column names a
// secret. A comma of its head is at i. It reports whether it has put any there. Within a table
// that was read already it does nothing, and returns false.
func (a *Ahead) addColumns(s string, i int) bool {
	if i < a.tableEnd {
		return false
	}
	_, name := nameBefore(s, i)
	after := s[i+1 : shapes.RunEnd(s[:min(len(s), i+1+shapes.MaxName)], i+1, shapes.Ident)]
	if !NamesSecret(name) && !NamesSecret(after) {
		return false
	}
	start := i
	for low := max(0, i-maxTableHead); start > low && headByte(s[start-1]); start-- {
		if s[start-1] == 'n' && start > 1 && s[start-2] == '\\' {
			break
		}
	}
	end, next := shapes.LineBounds(s, i, maxTableHead)
	if next < 0 {
		return false
	}
	for j := i; j < end; j++ {
		if !headByte(s[j]) {
			return false
		}
	}
	head := s[start:end]
	before := len(a.Found)
	for next >= 0 && next < len(s) {
		rowStart := next
		end, next = shapes.LineBounds(s, rowStart, shapes.MaxQuoted)
		if !a.addCells(s, rowStart, end, head) {
			break
		}
		a.tableEnd = end
	}
	return len(a.Found) > before
}

// NamesSecret reports whether a name tells that its value is a secret, or a vendor's.
func NamesSecret(name string) bool { return nameFamily(name) != famNone || tokens.NamesVendor(name) }

// headByte reports whether c can stand in the first line of a table.
func headByte(c byte) bool { return shapes.In(c, shapes.Ident) || shapes.OneOf(c, ",\"' ") }

// addCells puts the cells of the row s[at:end] into a.Found whose cell in head, the
// table's first line, names a secret. It returns false, having added nothing, if the row does not
// belong to the table: it has another number of cells.
func (a *Ahead) addCells(s string, at, end int, head string) bool {
	first := len(a.Found)
	for more := true; more; {
		var name string
		name, head, more = strings.Cut(head, ",")
		start := at
		inQuotes := false
		for at < end && (s[at] != ',' || inQuotes) {
			inQuotes = inQuotes != (s[at] == '"')
			at++
		}
		stop := at
		if more == (at == end) {
			a.Found = a.Found[:first]
			return false
		}
		at++
		start = shapes.SkipTo(s[:stop], start, " \t\"'\\")
		stop = shapes.SkipBack(s, start, stop, " \t\r\"'\\`}")
		if start == stop {
			continue
		}
		if rule := Named(strings.Trim(name, " \"'\\"), s[start:stop]); rule != "" {
			a.Found = append(a.Found, shapes.NewSpan(start, stop, rule))
		}
	}
	return true
}

// Manifest puts the values in the data of a Secret of Kubernetes into a.Found. The
// ':' behind "data" is at i. Whether "kind: Secret" is near is remembered in a for some text on, so
// that many "data:" take linear time.
func (a *Ahead) Manifest(s string, i int) {
	if i < a.tableEnd {
		return
	}
	if name := wordBefore(s, i); !strings.EqualFold(name, "data") && name != "stringData" {
		return
	}
	if i >= a.askedUntil {
		a.askedUntil = i + manifestReach/4
		a.inSecret = hasSecretKind(s[max(0, i-manifestReach):min(len(s), i+manifestReach)])
	}
	if !a.inSecret {
		return
	}
	data := s[:min(len(s), i+manifestData)]
	last := i + 1
	for at := last; at < min(len(data), last+manifestGap); {
		// A key, ':', perhaps '|' or '>' and a line break, perhaps a quote, base64.
		key := shapes.RunEnd(data, at, shapes.Ident)
		if key == at || key == len(data) || data[key] != ':' && !strings.HasPrefix(data[key:], `":`) && !strings.HasPrefix(data[key:], `\":`) {
			if strings.HasPrefix(data[key:], shapes.MaskStart) {
				key += strings.IndexByte(data[key:]+"]", ']')
			}
			at = key + 1
			continue
		}
		start := key
		for start < len(data) && shapes.OneOf(data[start], " :|>+-\"'\\\r\n\t") {
			start++
			if data[start-1] == '\\' && start < len(data) && data[start] == 'n' {
				start++
			}
		}
		end := shapes.RunEnd(data, start, shapes.Base64)
		if at = end; end-start >= minManifest {
			a.Found = append(a.Found, shapes.NewSpan(start, end, ruleManifest))
			last, a.tableEnd = end, end
		}
	}
}

// An Ahead has what was found before the scan comes there.
type Ahead struct {
	// Found has the cells of tables and the values of manifests.
	Found []shapes.Span
	// tableEnd is the end of the last of them.
	tableEnd int
	// inSecret says whether "data:" before askedUntil belongs to a Secret of Kubernetes.
	inSecret   bool
	askedUntil int
}
