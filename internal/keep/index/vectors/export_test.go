package vectors

// Len counts the slots in use.
func (s *Set) Len() int {
	s.memory.RLock()
	defer s.memory.RUnlock()
	return s.used
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
