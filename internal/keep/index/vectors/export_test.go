package vectors

// PutAt puts the vector of a document into a slot, in place of what is there.
func (s *Set) PutAt(slot, document uint32, vector []float32) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.memory.Lock()
	s.remove(slot)
	s.memory.Unlock()
	return s.put([]uint32{slot}, document, []Fragment{{Name: uint8(slot), Vector: vector}}) //nolint:gosec // tells slots apart
}

// Path returns the path of the file.
func (s *Set) Path() string { return s.file.Name() }

// Document returns the document whose vector is in a slot; ok is false for an empty slot.
func (s *Set) Document(slot uint32) (document uint32, ok bool) {
	s.memory.RLock()
	defer s.memory.RUnlock()
	document = s.document(slot)
	return document, document != 0
}
