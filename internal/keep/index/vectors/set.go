package vectors

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"sync"

	"claudemem/internal/leaf/openfile"
)

// chunkSlots is the number of slots in one piece of memory; a multiple of the
// bits of a word. Pieces make a set grow without copying, and cost nothing
// where a file has a hole.
const chunkSlots = 1 << 14

type chunk struct {
	documents []uint32 // 0: empty
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

	// writing is held by whoever changes the file or pending.
	writing sync.Mutex
	pending map[uint32]int // slot → index in records
	records []byte         // of pending, one after the other, those replaced too
	closed  bool

	// memory guards what follows; it is held for the time of a scan, never while
	// the file is read or written.
	memory sync.RWMutex
	chunks []*chunk
	// spare is the memory of the next chunks.
	spare chunk
	used  int
	// heads are the first slots of documents plus one, by document, in pieces like chunks: the
	// slots of a document follow each other. Where they do not, more has the first slots of
	// its other runs.
	heads []*[chunkSlots]uint32
	more  map[uint32][]uint32
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
	s = &Set{dims: dims, coder: c, readOnly: readOnly, file: f, pending: map[uint32]int{}}
	switch err := checkHeader(f, model, dims); {
	case err == nil:
		return s, s.load()
	case errors.Is(err, ErrMismatch) && !readOnly:
		return s, startFile(f, model, dims)
	default:
		return nil, err
	}
}

// maxSpare bounds the slots whose memory is asked for before they are read: a damaged file may
// be one large hole.
const maxSpare = 1 << 23

// load reads the file from its first record to its last whole one.
func (s *Set) load() error {
	size := s.recordSize()
	info, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("read vector file: %w", err)
	}
	n := int(min(info.Size()/int64(size), maxSpare))/chunkSlots + 1
	scanned, others := s.codeSizes()
	s.spare = chunk{documents: make([]uint32, n*chunkSlots), scanned: make([]uint64, n*scanned), others: make([]uint64, n*others)}
	// About 1 MB at a time; a record of 128 dimensions has 92 bytes.
	buf := make([]byte, max(1, (1<<20)/size)*size)
	reader := io.NewSectionReader(s.file, headerSize, math.MaxInt64-headerSize)
	for slot := uint32(0); slot < maxSlots; {
		n, err := io.ReadFull(reader, buf)
		for part := buf[:n-n%size]; len(part) > 0 && slot < maxSlots; part = part[size:] {
			if document, _, _, ok := s.decode(part[:size]); ok {
				s.enterLast(slot, document, part[:size])
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

// enter adds a record to the memory that searches read; memory is held, or the set
// is not shared yet.
func (s *Set) enter(slot, document uint32, record []byte) {
	c, at := s.chunkOf(slot), int(slot%chunkSlots)
	if c.documents[at] != 0 {
		s.unlink(slot)
	}
	s.used++
	c.documents[at] = document
	before, after := slot > 0 && s.document(slot-1) == document, s.document(slot+1) == document
	switch {
	case before && after:
		s.endRun(document, slot+1)
	case after:
		s.moveRun(document, slot+1, slot)
	case !before:
		s.startRun(document, slot)
	}
	scanned, others := c.code(at)
	s.readCode(scanned, others, record)
}

// enterLast is enter for a slot behind all that are in use.
func (s *Set) enterLast(slot, document uint32, record []byte) {
	c, at := s.chunkOf(slot), int(slot%chunkSlots)
	s.used++
	c.documents[at] = document
	if slot == 0 || s.document(slot-1) != document {
		s.startRun(document, slot)
	}
	scanned, others := c.code(at)
	s.readCode(scanned, others, record)
}

// chunkOf returns the chunk of a slot, a new one if there is none.
func (s *Set) chunkOf(slot uint32) *chunk {
	number := int(slot / chunkSlots)
	if number < len(s.chunks) && s.chunks[number] != nil {
		return s.chunks[number]
	}
	if number >= len(s.chunks) {
		s.chunks = append(s.chunks, make([]*chunk, number+1-len(s.chunks))...)
	}
	s.chunks[number] = s.newChunk()
	return s.chunks[number]
}

// newChunk returns an empty chunk.
func (s *Set) newChunk() *chunk {
	n, m := s.codeSizes()
	if len(s.spare.documents) == 0 {
		return &chunk{documents: make([]uint32, chunkSlots), scanned: make([]uint64, n), others: make([]uint64, m)}
	}
	c := &chunk{documents: s.spare.documents[:chunkSlots:chunkSlots], scanned: s.spare.scanned[:n:n], others: s.spare.others[:m:m]}
	s.spare = chunk{documents: s.spare.documents[chunkSlots:], scanned: s.spare.scanned[n:], others: s.spare.others[m:]}
	return c
}

// codeSizes returns how many words the codes of a chunk have in its two lists.
func (s *Set) codeSizes() (scanned, others int) {
	n := s.coder.scannedWords()
	return chunkSlots * n, chunkSlots * (s.coder.words - n)
}

// head returns a pointer to the first slot of a document's list.
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

// startRun, moveRun and endRun note that slots of a document begin at a slot, at another one
// than so far, and no longer.
func (s *Set) startRun(document, slot uint32) {
	if head := s.head(document); *head == 0 {
		*head = slot + 1
		return
	}
	if s.more == nil {
		s.more = map[uint32][]uint32{}
	}
	s.more[document] = append(s.more[document], slot)
}

func (s *Set) moveRun(document, from, to uint32) {
	if head := s.head(document); *head == from+1 {
		*head = to + 1
		return
	}
	s.more[document][slices.Index(s.more[document], from)] = to
}

func (s *Set) endRun(document, slot uint32) {
	head, others := s.head(document), s.more[document]
	if *head == slot+1 {
		if *head = 0; len(others) == 0 {
			return
		}
		*head, others = others[0]+1, others[1:]
	} else {
		at := slices.Index(others, slot)
		others = slices.Delete(others, at, at+1)
	}
	if s.more[document] = others; len(others) == 0 {
		delete(s.more, document)
	}
}

// unlink empties a slot that is in use.
func (s *Set) unlink(slot uint32) {
	c, at := s.chunks[slot/chunkSlots], slot%chunkSlots
	document := c.documents[at]
	before, after := slot > 0 && s.document(slot-1) == document, s.document(slot+1) == document
	switch {
	case before && after:
		s.startRun(document, slot+1)
	case after:
		s.moveRun(document, slot, slot+1)
	case !before:
		s.endRun(document, slot)
	}
	c.documents[at] = 0
	s.used--
}

// slotsOf appends the places of a document.
func (s *Set) slotsOf(places []place, document uint32) []place {
	number := int(document / chunkSlots)
	if number >= len(s.heads) || s.heads[number] == nil || s.heads[number][document%chunkSlots] == 0 {
		return places
	}
	run := func(slot uint32) {
		for ; s.document(slot) == document; slot++ {
			places = append(places, place{slot: slot, document: document})
		}
	}
	run(s.heads[number][document%chunkSlots] - 1)
	for _, slot := range s.more[document] {
		run(slot)
	}
	return places
}

// All yields the slots that are in use, in order, with their documents. Vectors put since the
// last Sync may be missing. Who iterates must not use the set meanwhile.
func (s *Set) All() iter.Seq2[uint32, uint32] {
	return func(yield func(slot, document uint32) bool) {
		s.memory.RLock()
		defer s.memory.RUnlock()
		for number, c := range s.chunks {
			if c == nil {
				continue
			}
			for at, document := range c.documents {
				if document != 0 && !yield(uint32(number*chunkSlots+at), document) {
					return
				}
			}
		}
	}
}

// document returns the document of a slot, 0 for an empty one. The caller holds
// s.memory.
func (s *Set) document(slot uint32) uint32 {
	if number := int(slot / chunkSlots); number < len(s.chunks) && s.chunks[number] != nil {
		return s.chunks[number].documents[slot%chunkSlots]
	}
	return 0
}

// bufferedBytes is the amount of data that Put collects before it writes.
const bufferedBytes = 4 << 20

// Put puts the vector of a document's fragment into a slot, in place of what was
// there. It is found, and in the file, after the next Sync at the latest.
// Its length does not matter; zeros are kept but never found.
func (s *Set) Put(slot, document uint32, vector []float32) error {
	switch {
	case len(vector) != s.dims:
		return fmt.Errorf("put vector: %d dimensions instead of %d", len(vector), s.dims)
	case document == 0 || document >= maxSlots:
		return fmt.Errorf("put vector: document %d is out of range", document)
	case slot >= maxSlots:
		return fmt.Errorf("put vector: slot %d is out of range", slot)
	}
	for _, x := range vector {
		if x-x != 0 { // infinite or no number
			return errors.New("put vector: not a finite number")
		}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.changeable("put vector"); err != nil {
		return err
	}
	s.pending[slot] = len(s.records) / s.recordSize()
	s.records = s.encode(s.records, document, vector)
	if len(s.records) >= bufferedBytes {
		return s.flush()
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

// flush writes what is pending and makes it known; writing is held. After an
// error all of it is still pending.
func (s *Set) flush() error {
	if len(s.pending) == 0 {
		s.records = s.records[:0] // all deleted before they were written
		return nil
	}
	slots := make([]uint32, 0, len(s.pending))
	for slot := range s.pending {
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	size := s.recordSize()
	record := func(slot uint32) []byte {
		at := s.pending[slot] * size
		return s.records[at : at+size]
	}
	if err := s.write(slots, record); err != nil {
		return err
	}
	s.memory.Lock()
	defer s.memory.Unlock()
	for _, slot := range slots {
		document, _, _, _ := s.decode(record(slot))
		s.enter(slot, document, record(slot))
	}
	clear(s.pending)
	s.records = s.records[:0]
	return nil
}

// write writes the records of slots, which are in order, with one call for each
// run of slots.
func (s *Set) write(slots []uint32, record func(slot uint32) []byte) error {
	var run []byte
	for i, slot := range slots {
		run = append(run, record(slot)...)
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

// delete empties slots in memory and overwrites them with zeros in the file.
func (s *Set) delete(slots []uint32) error {
	slots = slices.Clone(slots)
	slices.Sort(slots)
	slots = slices.Compact(slots)
	for _, slot := range slots {
		delete(s.pending, slot)
	}
	s.memory.Lock()
	for _, slot := range slots {
		if s.document(slot) == 0 {
			continue
		}
		c, at := s.chunks[slot/chunkSlots], int(slot%chunkSlots)
		scanned, others := c.code(at)
		clear(scanned)
		clear(others)
		s.unlink(slot)
	}
	s.memory.Unlock()
	// Beyond the end there is nothing to overwrite. A slot in the file that memory
	// does not have may be damaged or left from an error: it is overwritten too.
	info, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("read vector file: %w", err)
	}
	beyond, _ := slices.BinarySearchFunc(slots, info.Size(), func(slot uint32, size int64) int {
		if s.offset(slot) < size {
			return -1
		}
		return 1
	})
	empty := make([]byte, s.recordSize())
	return s.write(slots[:beyond], func(uint32) []byte { return empty })
}

// Keep deletes the vectors for which keep is false. It is called at the start, for
// vectors that a crash left without a row in the database.
func (s *Set) Keep(keep func(slot, document uint32) bool) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.changeable("delete vectors"); err != nil {
		return err
	}
	var drop []uint32
	for number, c := range s.chunks { // they do not change while writing is held
		if c == nil {
			continue
		}
		for at, document := range c.documents {
			slot := uint32(number*chunkSlots + at)
			if document != 0 && !keep(slot, document) {
				drop = append(drop, slot)
			}
		}
	}
	return s.delete(drop)
}

// forget drops what is in memory of the vectors.
func (s *Set) forget() {
	s.memory.Lock()
	defer s.memory.Unlock()
	s.chunks, s.spare, s.heads, s.more, s.used = nil, chunk{}, nil, nil, 0
}

// Sync writes what Put collected and waits until the file is on the disk.
func (s *Set) Sync() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return fmt.Errorf("sync vector file: %w", os.ErrClosed)
	}
	return s.sync()
}

// sync writes what Put collected and syncs the file; nothing for a read-only set. The
// caller holds s.writing.
func (s *Set) sync() error {
	if s.readOnly {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
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

// Slots returns how many slots the file at path has room for, 0 for no file.
func Slots(path string, dims int) int {
	info, err := os.Stat(path)
	if err != nil || info.Size() < headerSize {
		return 0
	}
	s := Set{coder: newCoder(dims)}
	return int((info.Size() - headerSize) / int64(s.recordSize()))
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
