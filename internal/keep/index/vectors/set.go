package vectors

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"sort"
	"sync"

	"claudemem/internal/leaf/openfile"
)

// chunkSlots is the number of slots in one piece of memory; a multiple of the
// bits of a word. Pieces make a set grow without copying.
const chunkSlots = 1 << 14

type chunk struct {
	documents []uint32 // 0: empty
	next      []uint32 // the next slot of the document plus one; 0: it is the last
	scanned   []uint64 // the words of codes that are compared first, of one slot after the other
	others    []uint64 // the other words
}

// code returns the parts of the code of a slot, by its place in the chunk.
func (c *chunk) code(at int) (scanned, others []uint64) {
	n, m := len(c.scanned)/chunkSlots, len(c.others)/chunkSlots
	return c.scanned[at*n : (at+1)*n], c.others[at*m : (at+1)*m]
}

// Set is an open file of vectors.
type Set struct {
	dims     int
	coder    *coder
	readOnly bool
	file     *os.File

	// writing is held by whoever changes the file, and guards closed and empty: no slot below
	// empty is.
	writing sync.Mutex
	closed  bool
	empty   uint32

	// memory guards what follows; it is held for the time of a scan, never while
	// the file is read or written.
	memory sync.RWMutex
	chunks []*chunk
	used   int
	// heads are slots of documents plus one, by document, in pieces like chunks. A chunk's next
	// leads to the others of the document.
	heads []*[chunkSlots]uint32
}

// Open opens the file at path for vectors of a model, or starts it. A file that
// holds those of another model, has another number of dimensions, another
// version or a damaged header is started afresh.
func Open(path, model string, dims int) (*Set, error) {
	return open(path, model, dims, false)
}

// OpenReadOnly opens the file as it is now; ErrMismatch when its vectors are
// not of this model and size, fs.ErrNotExist when there is none.
func OpenReadOnly(path, model string, dims int) (*Set, error) {
	return open(path, model, dims, true)
}

// open opens the vector file at path and loads its codes. With readOnly it creates
// nothing and a file of another model is ErrMismatch; else such a file is begun anew.
func open(path, model string, dims int, readOnly bool) (s *Set, err error) {
	if dims < 1 || dims > maxDimensions {
		return nil, fmt.Errorf("open vector file: %d dimensions", dims)
	}
	opened, flags := openfile.Own, os.O_RDWR|os.O_CREATE
	if readOnly {
		opened, flags = openfile.Open, os.O_RDONLY
	}
	f, err := opened(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open vector file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	c := newCoder(dims)
	s = &Set{dims: dims, coder: c, readOnly: readOnly, file: f}
	switch err := checkHeader(f, model, dims); {
	case err == nil:
		return s, s.load()
	case errors.Is(err, ErrMismatch) && !readOnly:
		return s, startFile(f, model, dims)
	default:
		return nil, err
	}
}

// load reads the file from its first record to its last whole one.
func (s *Set) load() error {
	size := s.recordSize()
	// About 1 MB at a time; a record of 128 dimensions has 93 bytes.
	buf := make([]byte, max(1, (1<<20)/size)*size)
	reader := io.NewSectionReader(s.file, headerSize, math.MaxInt64-headerSize)
	for slot := uint32(0); slot < maxSlots; {
		n, err := io.ReadFull(reader, buf)
		for part := buf[:n-n%size]; len(part) > 0 && slot < maxSlots; part = part[size:] {
			if r, ok := s.decode(part[:size]); ok {
				s.enter(slot, r.document, part[:size])
			}
			slot++
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		default:
			return fmt.Errorf("read vector file: %w", err)
		}
	}
	return nil
}

// enter adds a record in an empty slot to the memory that searches read; memory is held, or
// the set is not shared yet.
func (s *Set) enter(slot, document uint32, record []byte) {
	c, at := s.chunkOf(slot), int(slot%chunkSlots)
	head := s.head(document)
	c.documents[at], c.next[at] = document, *head
	*head = slot + 1
	s.used++
	scanned, others := c.code(at)
	s.readCode(scanned, others, record)
}

// remove empties a slot in memory, which the caller holds, if it is in use.
func (s *Set) remove(slot uint32) {
	document := s.document(slot)
	if document == 0 {
		return
	}
	c, at := s.chunks[slot/chunkSlots], int(slot%chunkSlots)
	link := s.head(document)
	for *link != slot+1 {
		before := *link - 1
		link = &s.chunks[before/chunkSlots].next[before%chunkSlots]
	}
	*link, c.next[at], c.documents[at] = c.next[at], 0, 0
	s.used--
	scanned, others := c.code(at)
	clear(scanned)
	clear(others)
}

// chunkOf returns the chunk of a slot, which it makes with all before it if there is none. The caller holds s.memory for
// writing, or is the first to use s.
func (s *Set) chunkOf(slot uint32) *chunk {
	for scanned := s.coder.scannedWords(); int(slot/chunkSlots) >= len(s.chunks); {
		s.chunks = append(s.chunks, &chunk{
			documents: make([]uint32, chunkSlots), next: make([]uint32, chunkSlots),
			scanned: make([]uint64, chunkSlots*scanned), others: make([]uint64, chunkSlots*(s.coder.words-scanned)),
		})
	}
	return s.chunks[slot/chunkSlots]
}

// head returns a pointer to the head of a document's list, for changing: the first slot plus one, 0
// for none.
func (s *Set) head(document uint32) *uint32 {
	number := int(document / chunkSlots)
	if number >= len(s.heads) {
		s.heads = append(s.heads, make([]*[chunkSlots]uint32, number+1-len(s.heads))...)
	}
	if s.heads[number] == nil {
		s.heads[number] = new([chunkSlots]uint32)
	}
	return &s.heads[number][document%chunkSlots]
}

// slots yields the slots of a document, in no order. The caller holds s.memory, if only for reading,
// until it has gone through them, and changes no slot meanwhile.
func (s *Set) slots(document uint32) iter.Seq[uint32] {
	return func(yield func(slot uint32) bool) {
		number := int(document / chunkSlots)
		if number >= len(s.heads) || s.heads[number] == nil {
			return
		}
		for link := s.heads[number][document%chunkSlots]; link != 0; {
			slot := link - 1
			if !yield(slot) {
				return
			}
			link = s.chunks[slot/chunkSlots].next[slot%chunkSlots]
		}
	}
}

// slotsOf appends the places of a document, in no order. The caller holds s.memory.
func (s *Set) slotsOf(places []place, document uint32) []place {
	for slot := range s.slots(document) {
		places = append(places, place{slot: slot, document: document})
	}
	return places
}

// Slots returns the slots of a document, Count how many they are.
func (s *Set) Slots(document uint32) []uint32 {
	s.memory.RLock()
	defer s.memory.RUnlock()
	return slices.Collect(s.slots(document))
}

// Count returns how many fragments a document has.
func (s *Set) Count(document uint32) (n int) {
	s.memory.RLock()
	defer s.memory.RUnlock()
	for range s.slots(document) {
		n++
	}
	return n
}

// Len counts the slots in use.
func (s *Set) Len() int {
	s.memory.RLock()
	defer s.memory.RUnlock()
	return s.used
}

// document returns the document of a slot, 0 for an empty one. The caller holds
// s.memory.
func (s *Set) document(slot uint32) uint32 {
	if number := int(slot / chunkSlots); number < len(s.chunks) {
		return s.chunks[number].documents[slot%chunkSlots]
	}
	return 0
}

// Fragment is a text of a document: its name, which is the index's, and its vector, whose length
// does not matter; one of zeros is kept but never found.
type Fragment struct {
	Name   uint8
	Vector []float32
}

// Put puts a document's fragments into empty slots, beside those that the document has, and
// returns these slots, also with an error: then the file may have some of the fragments until the
// slots are deleted. It finds them at once; they are on the disk after the next Sync.
func (s *Set) Put(document uint32, fragments ...Fragment) (slots []uint32, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	for range fragments {
		for s.document(s.empty) != 0 { // only who holds writing changes it
			s.empty++
		}
		slots = append(slots, s.empty)
		s.empty++
	}
	return slots, s.put(slots, document, fragments)
}

// put puts fragments into as many empty slots, which are in order. The caller holds s.writing. An
// error before the first write is of the arguments or of a set that cannot be changed.
func (s *Set) put(slots []uint32, document uint32, fragments []Fragment) error {
	if err := s.changeable("put vector"); err != nil {
		return err
	}
	if document == 0 || document >= maxSlots {
		return fmt.Errorf("put vector: document %d is out of range", document)
	}
	var records []byte
	for i, f := range fragments {
		switch {
		case len(f.Vector) != s.dims:
			return fmt.Errorf("put vector: %d dimensions instead of %d", len(f.Vector), s.dims)
		case slots[i] >= maxSlots:
			return fmt.Errorf("put vector: slot %d is out of range", slots[i])
		case slices.ContainsFunc(f.Vector, func(x float32) bool { return x-x != 0 }):
			return errors.New("put vector: not a finite number")
		}
		records = s.encode(records, document, f)
	}
	size := s.recordSize()
	record := func(i int) []byte { return records[i*size : (i+1)*size] }
	if err := s.write(slots, record); err != nil {
		return err
	}
	s.memory.Lock()
	defer s.memory.Unlock()
	for i, slot := range slots {
		s.enter(slot, document, record(i))
	}
	return nil
}

// changeable returns an error for a set that is closed or opened for reading only;
// writing is held.
func (s *Set) changeable(what string) error {
	if s.readOnly {
		return errors.New(what + ": opened for reading only")
	}
	if s.closed {
		return fmt.Errorf("%s: %w", what, os.ErrClosed)
	}
	return nil
}

// write writes the records of slots, which are in order, with one call for each
// run of slots, of about 1 MB at most. record returns that of slots[i].
func (s *Set) write(slots []uint32, record func(i int) []byte) error {
	var run []byte
	for i, slot := range slots {
		run = append(run, record(i)...)
		if i+1 < len(slots) && slots[i+1] == slot+1 && len(run) < 1<<20 {
			continue
		}
		start := s.offset(slot) + int64(s.recordSize()) - int64(len(run))
		if _, err := s.file.WriteAt(run, start); err != nil {
			return fmt.Errorf("write vector file: %w", err)
		}
		run = run[:0]
	}
	return nil
}

// Delete empties slots: searches find them no more, and the file has zeros there
// when it returns (on the disk after Sync). After an error they are found no
// more, but the file may still hold them: call it again.
func (s *Set) Delete(slots ...uint32) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.changeable("delete vectors"); err != nil {
		return err
	}
	return s.delete(slots)
}

// delete empties slots in memory and overwrites them with zeros in the file. The caller holds
// s.writing.
func (s *Set) delete(slots []uint32) error {
	slots = slices.Clone(slots)
	slices.Sort(slots)
	slots = slices.Compact(slots)
	s.memory.Lock()
	for _, slot := range slots {
		s.remove(slot)
		s.empty = min(s.empty, slot)
	}
	s.memory.Unlock()
	// Beyond the end there is nothing to overwrite. A slot in the file that memory
	// does not have may be damaged or left from an error: it is overwritten too.
	info, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("read vector file: %w", err)
	}
	beyond := sort.Search(len(slots), func(i int) bool { return s.offset(slots[i]) >= info.Size() })
	empty := make([]byte, s.recordSize())
	return s.write(slots[:beyond], func(int) []byte { return empty })
}

// Keep deletes the vectors of the documents for which keep is false. It is called at the start,
// for vectors that a crash left without a row in the database.
func (s *Set) Keep(keep func(document uint32) bool) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.changeable("delete vectors"); err != nil {
		return err
	}
	var drop []uint32
	for number, c := range s.chunks { // they do not change while writing is held
		for at, document := range c.documents {
			if document != 0 && !keep(document) {
				drop = append(drop, uint32(number*chunkSlots+at))
			}
		}
	}
	return s.delete(drop)
}

// forget drops what is in memory of the vectors.
func (s *Set) forget() {
	s.memory.Lock()
	defer s.memory.Unlock()
	s.chunks, s.heads, s.used = nil, nil, 0
}

// Sync waits until the file is on the disk.
func (s *Set) Sync() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return fmt.Errorf("sync vector file: %w", os.ErrClosed)
	}
	return s.sync()
}

// sync syncs the file; nothing for a read-only set. The caller holds s.writing.
func (s *Set) sync() error {
	if s.readOnly {
		return nil
	}
	if err := s.file.Sync(); err != nil {
		return fmt.Errorf("sync vector file: %w", err)
	}
	return nil
}

// Close syncs and closes the file. A search that is under way finds less; a later
// one finds nothing. To close twice does no harm.
func (s *Set) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.sync()
	s.forget()
	return errors.Join(err, s.file.Close())
}

// Holds reports whether the file at path has vectors of a model and size, as Open would
// take them.
func Holds(path, model string, dims int) bool {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	return checkHeader(f, model, dims) == nil
}
