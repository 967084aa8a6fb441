package postings

import (
	"bytes"
	"math"
	"slices"

	"claudemem/internal/keep/sqlite"
)

// walk reads the list of a token in a segment page by page.
type walk struct {
	term  []byte // as the pages have it: '0', which stands for whole tokens, and the token
	next  int64  // the page to be read next
	last  int64  // of the segment
	found bool   // the term, on an earlier page
	done  bool
	spans []span
}

// span is a part of the documents of a reading.
type span struct{ from, to int }

// read reads the next page of a walk: two bytes with the place of its first document, two with
// that of its directory, then terms with their lists, and the directory, the places of the terms,
// each as the distance from the one before. What stands before the first term is the rest of a
// list that began on an earlier page. The documents go to r.documents, and where to w.spans; w.done
// is set at the end of the list.
func (r *reading) read(w *walk, page []byte) error {
	if len(page) < 4 {
		return sqlite.ErrDamaged
	}
	end := int(page[2])<<8 | int(page[3])
	if end < 4 || end > len(page) {
		return sqlite.ErrDamaged
	}
	w.next++
	w.done = w.next > w.last
	directory := reader{b: page, at: end}
	at, from := 0, 4 // of a list that goes on from an earlier page; the directory counts from 0
	if !w.found {
		var err error
		if at, from, err = seek(page[:end], &directory, w.term); err != nil {
			return err
		}
		if w.found = from > 0; !w.found {
			w.done = true
			return nil
		}
	}
	to := end
	if directory.more() { // the next term ends the list
		w.done = true
		to = at + directory.within(end)
	}
	if directory.broken || to < from || to > end {
		return sqlite.ErrDamaged
	}
	s := span{from: len(r.documents)}
	var err error
	r.documents, err = decode(r.documents, page[from:to])
	s.to = len(r.documents)
	w.spans = append(w.spans, s)
	return err
}

// seek returns where on a page a term stands and its list begins, zeros for a term that is not
// there. The directory is then at the place of the next term.
func seek(contents []byte, directory *reader, term []byte) (at, from int, err error) {
	var current []byte
	for n := 0; directory.more(); n++ {
		at += directory.within(len(contents))
		// A term has the bytes of the one before up to a number of them, and its own.
		r := reader{b: contents, at: at}
		kept := 0
		if n > 0 {
			kept = r.within(len(current))
		}
		size := r.within(len(contents) - r.at)
		if directory.broken || r.broken || size > len(contents)-r.at {
			return 0, 0, sqlite.ErrDamaged
		}
		current = append(current[:kept], contents[r.at:r.at+size]...)
		switch order := bytes.Compare(current, term); {
		case order == 0:
			return at, r.at + size, nil
		case order > 0:
			return 0, 0, nil
		}
	}
	return 0, 0, nil
}

// decode appends the documents of a part of a list to others: it has the number of the first, then
// distances. A zero behind one says that it was deleted, two that it was added again.
func decode(documents []uint32, list []byte) ([]uint32, error) {
	documents = slices.Grow(documents, len(list))
	r := reader{b: list}
	document := uint64(0)
	for r.at < len(list) {
		if b := list[r.at]; b < 128 { // as nearly all
			document += uint64(b)
			r.at++
		} else {
			document += r.number()
		}
		if r.broken || document > math.MaxUint32 {
			return documents, sqlite.ErrDamaged
		}
		if r.at < len(list) && list[r.at] == 0 {
			if r.at++; r.at == len(list) || list[r.at] != 0 {
				continue
			}
			r.at++
		}
		documents = append(documents, uint32(document))
	}
	return documents, nil
}

// reader reads numbers as SQLite writes them: seven bits a byte, the highest first, each but the
// last with the bit 128; a ninth byte has eight.
type reader struct {
	b      []byte
	at     int
	broken bool // a number was not whole or too large; all later ones are 0
}

func (r *reader) more() bool { return r.at < len(r.b) }

// number reads a number of variable length, of one to nine bytes as in SQLite's files.
func (r *reader) number() (n uint64) {
	for i := 0; !r.broken; i++ {
		if r.at >= len(r.b) {
			r.broken = true
			break
		}
		b := r.b[r.at]
		r.at++
		if i == 8 {
			return n<<8 | uint64(b)
		}
		n = n<<7 | uint64(b&127)
		if b < 128 {
			return n
		}
	}
	return 0
}

// within returns a number of at most most; a larger one is damage, as for broken.
func (r *reader) within(most int) int {
	n := r.number()
	if n > uint64(max(most, 0)) {
		r.broken = true
		return 0
	}
	return int(n)
}
