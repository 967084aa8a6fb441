package index

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/memory"
)

// kind is a RecordKind as a number; 0 is none.
type kind uint8

// kindOf returns the index's number of a kind of record, 0 for an unknown one.
func kindOf(k memory.RecordKind) kind {
	return kind(slices.Index(memory.RecordKinds(), k) + 1) //nolint:gosec // there are three
}

// kindObservation is the kind whose vectors a trained table makes.
const kindObservation kind = 1

// recordKind returns the kind of record that k, which must not be 0, stands for.
func (k kind) recordKind() memory.RecordKind {
	return memory.RecordKinds()[k-1]
}

// entry holds the fields of a document that filters use; kind 0 marks a number
// without a document.
type entry struct {
	record    int64
	session   int64
	createdAt int64
	project   uint32
	typ       uint16
	kind      kind
	vectors   uint8 // how many it has, or waits
}

// waits, in place of the number of its vectors, says that a document has none yet.
const waits = 255

// key names a record in a map.
type key struct {
	record int64
	kind   kind
}

func keyOf(r memory.RecordRef) key { return key{r.ID, kindOf(r.Kind)} }

// ref names the record of an entry, whose kind must not be 0.
func (e entry) ref() memory.RecordRef {
	return memory.RecordRef{Kind: e.kind.recordKind(), ID: e.record}
}

// total counts a project's documents and their words.
type total struct {
	documents, words int
}

// totals has them by project.
type totals map[uint32]total

// add adds to the numbers of documents and words of a project; both may be negative.
func (t totals) add(project uint32, documents, words int) {
	sum := t[project]
	t[project] = total{sum.documents + documents, sum.words + words}
}

// catalogue holds the part of every document that is in memory. It changes after the commit
// of the same change, under mu; a query holds mu for reading as long as it runs, so
// what was freed is not used again before the query ends.
type catalogue struct {
	mu       sync.RWMutex
	entries  []entry // by document number; 0 is none
	lengths  lengths
	byRecord recordNumbers
	projects map[string]uint32
	paths    []string // by project number
	types    map[memory.ObservationType]uint16
	typeList []memory.ObservationType
	totals   totals
	all      total
	counts   []int // documents by kind
	// observations are the documents of this kind.
	observations vectors.Documents
	byType       []int // documents by type number
	// waiting are the documents that wait for vectors.
	waiting map[uint32]struct{}
	// vocabulary has the words that the rows of contents number.
	vocabulary vocabulary
}

// newCatalogue returns an empty catalogue. Document, path and type 0 are taken, and mean
// none.
func newCatalogue() *catalogue {
	return &catalogue{
		entries:  make([]entry, 1),
		projects: map[string]uint32{},
		paths:    []string{""},
		byRecord: recordNumbers{},
		types:    map[memory.ObservationType]uint16{"": 0},
		typeList: []memory.ObservationType{""},
		totals:   totals{},
		counts:   make([]int, len(memory.RecordKinds())+1),
		byType:   []int{0},
		waiting:  map[uint32]struct{}{},
	}
}

// typeNumber returns a type's number, a new one for a new type, for which mu is held.
func (c *catalogue) typeNumber(t memory.ObservationType) uint16 {
	if n, ok := c.types[t]; ok {
		return n
	}
	if len(c.typeList) == 1<<16-1 {
		return 0 // nobody has so many; such a document is found without a type filter
	}
	n := uint16(len(c.typeList)) //nolint:gosec // checked above
	c.types[t] = n
	c.typeList = append(c.typeList, t)
	c.byType = append(c.byType, 0)
	return n
}

// addProject records that the project at path has this number.
func (c *catalogue) addProject(number uint32, path string) {
	c.paths = reach(c.paths, number)
	c.paths[number] = path
	c.projects[path] = number
}

// lengths has the documents' lengths in words plus one, as package rank counts them, by
// document number; 0 is no document. The first look at documents needs nothing else, and
// finds them close together here.
type lengths []uint16

// of returns a document's length, at most 65534; ok is false without a document.
func (l lengths) of(document uint32) (words uint16, ok bool) {
	if int(document) >= len(l) || l[document] == 0 {
		return 0, false
	}
	return l[document] - 1, true
}

// put sets a document's entry, in place of the one it had, and its length in words. The type is a
// number of typeNumber's; mu is held.
func (c *catalogue) put(document uint32, e entry, length int) {
	c.drop(document) // before reach: new memory is not read before it is written, see loadDocuments
	c.entries = reach(c.entries, document)
	c.entries[document] = e
	c.lengths = reach(c.lengths, document)
	c.lengths[document] = uint16(min(max(length, 0), 1<<16-2)) + 1 //nolint:gosec // bounded
	c.byRecord.set(key{e.record, e.kind}, document)
	c.counts[e.kind]++
	if e.kind == kindObservation {
		c.observations.Add(document)
	}
	c.byType[e.typ]++
	if e.vectors == waits {
		c.waiting[document] = struct{}{}
	}
}

// drop removes a document's entry when there is one.
func (c *catalogue) drop(document uint32) {
	if int(document) >= len(c.entries) || c.entries[document].kind == 0 {
		return
	}
	e := c.entries[document]
	c.byRecord.set(key{e.record, e.kind}, 0)
	c.counts[e.kind]--
	c.observations.Remove(document)
	c.byType[e.typ]--
	delete(c.waiting, document)
	c.entries[document], c.lengths[document] = entry{}, 0
}

// addTotal adds to the numbers of documents and words of a project and of all; both may
// be negative.
func (c *catalogue) addTotal(project uint32, documents, words int) {
	c.totals.add(project, documents, words)
	c.all.documents += documents
	c.all.words += words
}

// next returns the number for a document that is new.
func (c *catalogue) next() uint32 { return uint32(len(c.entries)) } //nolint:gosec // SQLite's rows end before

// reach returns list with zeros appended until it has an element number n. It doubles the
// capacity: append makes a long list only a quarter longer and so copies it more often, which
// took half of the time to open an index.
func reach[T any](list []T, n uint32) []T {
	if int(n) < len(list) {
		return list
	}
	if int(n) >= cap(list) {
		list = slices.Grow(list, max(int(n)+1-len(list), len(list)))
	}
	return list[:n+1]
}

// eligible returns the documents that pass f as a set, nil for all of them, and
// how many they are; mu is held. Of f.Only it leaves out what the index does not have.
func (c *catalogue) eligible(f Filter) (vectors.Documents, int) {
	p := c.predicate(f)
	if f.Only != nil {
		set, n := make(vectors.Documents, len(c.entries)/64+1), 0
		for _, r := range f.Only {
			if d, ok := c.byRecord.get(keyOf(r)); ok && !set.Has(d) && (p == nil || p(&c.entries[d])) {
				set.Add(d)
				n++
			}
		}
		return set, n
	}
	if p == nil {
		return nil, c.all.documents
	}
	set, n := make(vectors.Documents, len(c.entries)/64+1), 0
	for d := range c.entries {
		if e := &c.entries[d]; e.kind != 0 && p(e) {
			set[d>>6] |= 1 << (d & 63) // set.Add, which would look at the set's size each time
			n++
		}
	}
	return set, n
}

// compareAge orders documents by the time, kind and number of their records, the newest
// first. The numbers of documents would not do: a rebuild of the index gives out others.
func (c *catalogue) compareAge(x, y uint32) int {
	e, f := &c.entries[x], &c.entries[y]
	return cmp.Or(cmp.Compare(f.createdAt, e.createdAt), cmp.Compare(e.kind, f.kind), cmp.Compare(f.record, e.record))
}

// among yields the documents of a set in order, all for nil.
func (c *catalogue) among(set vectors.Documents) iter.Seq[uint32] {
	if set != nil {
		return set.All()
	}
	return func(yield func(uint32) bool) {
		for d := range c.entries {
			if c.entries[d].kind != 0 && !yield(uint32(d)) { //nolint:gosec // SQLite's rows end before
				return
			}
		}
	}
}

// predicate returns a function that reports whether a document passes f, its Only apart;
// nil when all do. Projects that the index does not know have no documents: with none but those
// nothing passes. The function is good while mu is held.
func (c *catalogue) predicate(f Filter) func(*entry) bool {
	if len(f.Projects) == 0 && len(f.Kinds) == 0 && len(f.Types) == 0 && f.Session == 0 && f.Since == 0 && f.Until == 0 {
		return nil
	}
	var projects []bool
	if len(f.Projects) > 0 {
		projects = make([]bool, len(c.paths))
		for _, n := range c.projectNumbers(f) {
			projects[n] = true
		}
	}
	var kinds [256]bool
	for _, k := range f.Kinds {
		kinds[kindOf(k)] = true
	}
	var types []bool
	if len(f.Types) > 0 {
		types = make([]bool, len(c.typeList))
		for _, t := range f.Types {
			if n, ok := c.types[t]; ok && t != "" {
				types[n] = true
			}
		}
	}
	byKind := len(f.Kinds) > 0
	session, since, until := int64(f.Session), int64(f.Since), int64(f.Until)
	return func(e *entry) bool {
		return (projects == nil || projects[e.project]) &&
			(!byKind || kinds[e.kind]) &&
			// Types pass observations only, as everywhere.
			(types == nil || types[e.typ]) &&
			(session == 0 || e.session == session) &&
			(since == 0 || e.createdAt >= since) &&
			(until == 0 || e.createdAt <= until)
	}
}

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
