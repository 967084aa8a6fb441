package vectors

// Len counts the slots in use.
func (s *Set) Len() int {
	s.memory.RLock()
	defer s.memory.RUnlock()
	return s.used
}

// Path returns the path of the file.
func (s *Set) Path() string { return s.file.Name() }
