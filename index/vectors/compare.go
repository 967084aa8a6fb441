package vectors

// Compare returns, of the documents whose fragments lie in slots, each with its
// fragment nearest to the query, the best first. Slots in ascending order are
// read with the fewest calls. What Search says of the query holds here too.
func (s *Set) Compare(query []float32, slots []uint32) []Match {
	if len(query) != s.dims {
		return nil
	}
	q, ok := s.prepare(query)
	if !ok {
		return nil
	}
	places := make([]place, 0, len(slots))
	s.memory.RLock()
	for _, slot := range slots {
		if document := s.document(slot); document != 0 {
			places = append(places, place{slot: slot, document: document})
		}
	}
	s.memory.RUnlock()
	return best(s.compare(q, places), len(slots))
}
