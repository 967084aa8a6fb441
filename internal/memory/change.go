package memory

// Change is an entry of the ordered change feed, committed together with the change
// itself.
type Change struct {
	// Seq grows strictly and is never given twice; numbers may be missing.
	Seq int64 `json:"seq"`
	// RecordRef names the record. Beside the kinds that are searched there are
	// session, learning and symbol.
	RecordRef
	// Operation is insert, update or delete.
	Operation string `json:"operation"`
}
