package words

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
