package index

// numbersBits is the number of bits of a record's number that choose a place in a piece of memory.
const numbersBits = 9

// recordNumbers has the documents of records: in pieces, by kind and the other bits of the
// record's number, since these are given one after the other. A map of records takes five times
// the memory.
type recordNumbers map[key]*[1 << numbersBits]uint32

// page and place split a record's number: which piece of recordNumbers it is in, and where there.
func (k key) page() key    { return key{k.record >> numbersBits, k.kind} }
func (k key) place() int64 { return k.record & (1<<numbersBits - 1) }

// get returns the document of a record.
func (n recordNumbers) get(k key) (document uint32, ok bool) {
	if page := n[k.page()]; page != nil {
		document = page[k.place()]
	}
	return document, document != 0
}

// set sets the document of a record, 0 for none.
func (n recordNumbers) set(k key, document uint32) {
	page := n[k.page()]
	if page == nil {
		page = new([1 << numbersBits]uint32)
		n[k.page()] = page
	}
	page[k.place()] = document
}
