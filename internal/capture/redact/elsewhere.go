package redact

import "strings"

// Secrets whose name is not before an operator: it is in another member of the same
// object, in a tag, in the argument before, in a column's head, or a blank away.

// minVendor is the length of the shortest token of a kind with Names, in bytes.
const minVendor = 14

// secretNamed returns the rule under which the literal v is a secret of the given
// name; "" for none.
func secretNamed(name, v string) string {
	fam := nameFamily(name)
	if fam == famAuthorization {
		fam = famSecret
	}
	if fam != famNone && len(v) >= fam.shortest() && secretLiteral(fam, v[:min(len(v), maxValue)], false) {
		return ruleOfToken(v[:min(len(v), maxQuoted)], fam.rule())
	}
	if rule, end := vendorToken(name, v, 0); end == len(v) {
		return rule
	}
	return ""
}

// vendorToken returns the rule and the end of the token at i that a kind with one of
// its Names in name has; "" and -1 for none.
func vendorToken(name, s string, i int) (rule string, end int) {
	if len(s)-i < minVendor {
		return "", -1
	}
	found := eachVendor(name, func(k *Kind) (ok bool) {
		if k.Flags&Quoted == 0 && tokenBytes(s[i:i+8]) {
			end, ok = k.MatchBody(s, i)
			ok = ok && k.RandomEnough(s[i:end])
			rule = k.Rule
		}
		return ok
	})
	if !found {
		return "", -1
	}
	return rule, end
}

// namesVendor reports whether a name has one of the Names of Kinds.
//
//go:noinline
func namesVendor(name string) bool { return eachVendor(name, func(*Kind) bool { return true }) }

// eachVendor calls visit with each kind that has one of its Names in name
// until visit returns true, and reports whether it has.
func eachVendor(name string, visit func(k *Kind) bool) bool {
	if len(name) > maxName {
		return false
	}
	for j := 1; j+1 < len(name); j++ {
		key := keyOf(name[j-1], name[j])
		if names.thirds[key]>>(name[j+1]&31)&1 == 0 {
			continue
		}
		for n := names.heads[key]; n != 0; {
			e := &names.entries[n-1]
			if n = e.next; HasPrefixFold(name[j-1:], e.text) && visit(e.kind) {
				return true
			}
		}
	}
	return false
}

// isValueName reports whether a name says that its value belongs to the name in another
// member: {"name":"DB_PASSWORD","value":"…"}.
func isValueName(name string) bool {
	switch len(name) {
	case 3:
		return strings.EqualFold(name, "val")
	case 5:
		return strings.EqualFold(name, "value")
	case 7:
		return strings.EqualFold(name, "default")
	case 11, 12, 13:
		return strings.EqualFold(name, "stringvalue") || strings.EqualFold(name, "defaultvalue") || strings.EqualFold(name, "default_value")
	}
	return false
}

// isNameName reports whether a name says that its value is a name.
func isNameName(name string) bool {
	switch len(name) {
	case 3:
		return strings.EqualFold(name, "key")
	case 4:
		return strings.EqualFold(name, "name")
	case 7, 8, 9:
		return strings.EqualFold(name, "setting") || strings.EqualFold(name, "variable") || strings.EqualFold(name, "parameter")
	}
	return false
}

// maxBeside is how far a value is from its name in another member, in bytes.
const maxBeside = 256

// nameBeside returns the name that another member of the same object gives to the value
// s[start:end], where start is that of the word "value"; "" for none.
func nameBeside(s string, start, end int) string {
	low := max(0, start-maxBeside)
	for i := start - 1; i > low; i-- {
		switch s[i] {
		case '=', ':':
			_, name := nameBefore(s, i)
			if isNameName(name) {
				return wordAt(s, i+1)
			}
			if word := wordAt(s, i+1); name == "type" && word == "password" {
				return word
			}
			continue
		case '\n':
			if s[i-1] != '\n' {
				continue
			}
		case '{':
			if name := blockLabel(s[low:i]); namesSecret(name) {
				return name
			}
		case '}', '<', ';', '[':
		default:
			continue
		}
		break
	}
	for end < len(s) && end < start+maxQuoted && oneOf(s[end], "\"',\\ \t\n+") {
		end++
	}
	stop := min(len(s), end+maxName)
	nameEnd := runEnd(s[:stop], end, classIdent)
	if !isNameName(s[end:nameEnd]) {
		return ""
	}
	for nameEnd < stop && oneOf(s[nameEnd], "\"'\\ ") {
		nameEnd++
	}
	if nameEnd == stop || s[nameEnd] != ':' && s[nameEnd] != '=' {
		return ""
	}
	return wordAt(s, nameEnd+1)
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

// wordAt returns the word at i, behind blanks and quotes.
//
//go:noinline
func wordAt(s string, i int) string {
	limit := min(len(s), i+8)
	for i < limit && oneOf(s[i], " \t\"'\\") {
		i++
	}
	return s[i:runEnd(s[:min(len(s), i+maxName)], i, classIdent)]
}

// maxElement is the length of an element's text that is judged, in bytes.
const maxElement = 1024

// secretElement returns the text of the XML element whose closing tag is at i, if its
// name or that in an attribute of its opening tag names a secret; false for none.
func secretElement(s string, i int) (span, bool) {
	nameEnd := runEnd(s[:min(len(s), i+2+maxName)], i+2, classIdent)
	name := s[i+2 : nameEnd]
	low := max(0, i-maxElement)
	if fam := nameFamily(name); (fam == famNone || name == "key") && !carriesName(name) && !namesVendor(name) {
		low = max(0, i-maxName)
		open := strings.LastIndexByte(s[low:i], '>')
		if open < 0 {
			return span{}, false
		}
		return nextElement(s, strings.Trim(s[low+open+1:i], " \n*:"), nameEnd+1)
	}
	open := strings.LastIndexByte(s[low:i], '>')
	if open < 0 {
		return span{}, false
	}
	start := low + open + 1
	tagStart := strings.LastIndexByte(s[max(0, start-maxElement):start], '<')
	if tagStart < 0 {
		return span{}, false
	}
	tag := s[max(0, start-maxElement)+tagStart+1 : start]
	if !strings.HasPrefix(tag, name) {
		return span{}, false
	}
	if carriesName(name) {
		if name = attributeName(tag); name == "" {
			name = tagBefore(s[:start-len(tag)-1])
		}
	}
	end := i
	for start < end && oneOf(s[start], " \t\r\n") {
		start++
	}
	for end > start && oneOf(s[end-1], " \t\r\n") {
		end--
	}
	if text := s[start:end]; strings.IndexByte(text, '\n') >= 0 { // of several lines, with marks before each
		start, end = longestWord(s, start, end)
	}
	if rule := secretNamed(name, s[start:end]); rule != "" {
		return span{start, end, rule}, true
	}
	return span{}, false
}

// longestWord returns the bounds of the longest word of s[start:end].
func longestWord(s string, start, end int) (from, to int) {
	for i := start; i < end; {
		word := runEnd(s[:end], i, classVisible)
		if word-i > to-from {
			from, to = i, word
		}
		i = word + 1
	}
	return from, to
}

// tagBefore returns the name of the opening tag that before ends in; "" for none.
func tagBefore(before string) string {
	before = strings.TrimRight(before[max(0, len(before)-maxName):], " \t\r\n")
	open := strings.LastIndexByte(before, '<')
	if open < 0 || !strings.HasSuffix(before, ">") {
		return ""
	}
	return wordAt(before, open+1)
}

// carriesName reports whether the name of an element says that an attribute has the name
// of its text.
func carriesName(element string) bool {
	switch strings.ToLower(element) {
	case "property", "string", "entry", "param", "parameter", "setting", "value", "item", "variable", "arg", "prop":
		return true
	}
	return false
}

// attributeName returns the value of the attribute of a tag that is a name; "" for none.
func attributeName(tag string) string {
	for i := range len(tag) {
		if tag[i] == '=' {
			if _, name := nameBefore(tag, i); isNameName(name) {
				return wordAt(tag, i+1)
			}
		}
	}
	return ""
}

// secretAtComma returns the argument behind the ',' at i if that before is a name of a
// secret, as in define('DB_PASSWORD', '…'); false for none. It puts the cells of a table
// whose head names a secret into the queue.
func (sc *scanner) secretAtComma(s string, i int) (span, bool) {
	if i == 0 || i+1 >= len(s) {
		return span{}, false
	}
	if !oneOf(s[i-1], "\"'") {
		if isAlnum(s[i-1]) && s[i+1] != ' ' {
			sc.queueColumns(s, i)
		}
		return span{}, false
	}
	j := i + 1
	for j < len(s) && j < i+32 && s[j] == ' ' {
		j++
	}
	if j < len(s) && isAlnum(s[j]) || !oneOf(s[min(j, len(s)-1)], "\"'\\`") {
		return span{}, false
	}
	start, name := nameBefore(s, i)
	if nameFamily(name) == famNone && !namesVendor(name) {
		return span{}, false
	}
	if j == i+1 && oneOf(s[i-1], "\"") && sc.queueColumns(s, i) {
		return span{}, false
	}
	q, ok := quoteAt(s, j)
	if !ok {
		return span{}, false
	}
	end := q.end(s)
	if end == len(s) || s[end] != q.char && s[end] != '\\' {
		return span{}, false
	}
	v := s[q.start:end]
	rule := secretNamed(name, v)
	if rule == "" || !setsName(s[:start]) && (len(v) < 8 || wordy(v) || !strings.ContainsAny(v, "0123456789") || strings.IndexByte(v, ' ') >= 0) {
		return span{}, false
	}
	return span{q.start, end, rule}, true
}

// setsName reports whether a call that sets a constant or variable is open: define('.
func setsName(before string) bool {
	before = strings.TrimRight(before, " \"'\\")
	return endsInOne(before, "define(", "etenv(", "putenv(", "etProperty(", "etdefault(", "EnvironmentVariable(")
}

// maxTableHead is the length of the first line of a table, in bytes.
const maxTableHead = 1024

// queueColumns puts the cells of a table in CSV into the queue whose column names a
// secret. A comma of its head is at i. It reports whether there is such a table.
func (sc *scanner) queueColumns(s string, i int) bool {
	if i < sc.tableEnd {
		return false
	}
	_, name := nameBefore(s, i)
	after := s[i+1 : runEnd(s[:min(len(s), i+1+maxName)], i+1, classIdent)]
	if !namesSecret(name) && !namesSecret(after) {
		return false
	}
	start := i
	for low := max(0, i-maxTableHead); start > low && headByte(s[start-1]); start-- {
		if s[start-1] == 'n' && start > 1 && s[start-2] == '\\' {
			break
		}
	}
	end, next := lineBounds(s, i, maxTableHead)
	if next < 0 {
		return false
	}
	for j := i; j < end; j++ {
		if !headByte(s[j]) {
			return false
		}
	}
	head := s[start:end]
	before := len(sc.queue)
	for next >= 0 && next < len(s) {
		rowStart := next
		end, next = lineBounds(s, rowStart, maxQuoted)
		if !sc.queueCells(s, rowStart, end, head) {
			break
		}
		sc.tableEnd = end
	}
	return len(sc.queue) > before
}

func namesSecret(name string) bool { return nameFamily(name) != famNone || namesVendor(name) }

// headByte reports whether c can stand in the first line of a table.
func headByte(c byte) bool { return classes[c]&classIdent != 0 || oneOf(c, ",\"' ") }

// lineBounds returns where the line of i ends and where the next begins, -1 if it has no
// end within limit bytes. The line feed may be written \n.
//
//go:noinline
func lineBounds(s string, i, limit int) (end, next int) {
	for end = i; end < len(s) && end < i+limit; end++ {
		switch s[end] {
		case '\n':
			return end, end + 1
		case '\\':
			if k := skipBackslashes(s, end); k < len(s) && s[k] == 'n' {
				return end, k + 1
			}
		}
	}
	return end, -1
}

// queueCells puts the cells of the row s[at:end] into the queue whose cell in head, the
// table's first line, names a secret. It returns false if the row does not belong to the
// table.
func (sc *scanner) queueCells(s string, at, end int, head string) bool {
	first := len(sc.queue)
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
			sc.queue = sc.queue[:first]
			return false
		}
		at++
		for start < stop && oneOf(s[start], " \t\"'\\") {
			start++
		}
		for stop > start && oneOf(s[stop-1], " \t\r\"'\\`}") {
			stop--
		}
		if start == stop {
			continue
		}
		if rule := secretNamed(strings.Trim(name, " \"'\\"), s[start:stop]); rule != "" {
			sc.queue = append(sc.queue, span{start, stop, rule})
		}
	}
	return true
}
