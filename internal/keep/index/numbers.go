package index

// numbersPage is the number of records whose documents are in one piece of memory.
const numbersPage = 512

// recordNumbers has the documents of records: in pieces by the record's number, since these
// are given one after the other. A map takes five times the memory.
type recordNumbers struct {
	pages map[key]*[numbersPage]uint32 // by kind and record divided by numbersPage
	used  int
	// last is the page that was changed last, the one of lastKey.
	last    *[numbersPage]uint32
	lastKey key
}

// page returns the key of the piece with a record and the record's place in it.
func (k key) page() (key, int64) {
	page, place := k.record/numbersPage, k.record%numbersPage
	if place < 0 { // no record of ours
		page, place = page-1, place+numbersPage
	}
	return key{page, k.kind}, place
}

// get returns the document of a record.
func (n *recordNumbers) get(k key) (document uint32, ok bool) {
	page, place := k.page()
	if p := n.pages[page]; p != nil {
		document = p[place]
	}
	return document, document != 0
}

// set sets the document of a record, 0 for none.
func (n *recordNumbers) set(k key, document uint32) {
	page, place := k.page()
	p := n.last
	if p == nil || n.lastKey != page {
		if p = n.pages[page]; p == nil {
			if document == 0 {
				return
			}
			if n.pages == nil {
				n.pages = map[key]*[numbersPage]uint32{}
			}
			p = new([numbersPage]uint32)
			n.pages[page] = p
		}
		n.last, n.lastKey = p, page
	}
	if p[place] != 0 {
		n.used--
	}
	if document != 0 {
		n.used++
	}
	p[place] = document
}
