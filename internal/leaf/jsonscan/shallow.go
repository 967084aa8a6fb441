package jsonscan

// Shallow returns data with each object or array that is nested deeper than limit replaced
// by a string that says how many bytes were there, and whether there was one. It does not
// check data: of valid JSON the result is valid, of other text it is not. It needs no stack,
// so that any depth will do. Without a cut, and where brackets do not match, it returns data and
// false. mark returns the text that stands for so many bytes.
func Shallow(data []byte, limit int, mark func(bytes int) string) (shallow []byte, cut bool) {
	depth, begin := 0, 0 // of the value that is cut
	out := make([]byte, 0, min(len(data), 1<<20))
	kept := 0 // up to where data is in out
	for i := 0; i < len(data); {
		switch data[i] {
		case '"':
			i = StringEnd(data, i)
			continue
		case '{', '[':
			if depth++; depth == limit+1 {
				out, begin = append(out, data[kept:i]...), i
			}
		case '}', ']':
			if depth == limit+1 {
				out = AppendQuote(out, mark(i+1-begin))
				kept, cut = i+1, true
			}
			if depth--; depth < 0 {
				return data, false // no JSON
			}
		}
		i++
	}
	if !cut || depth != 0 {
		return data, false
	}
	return append(out, data[kept:]...), true
}
