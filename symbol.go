package claudemem

// SymbolChange is a function, method or type that a session added, modified or deleted.
type SymbolChange struct {
	Session       SessionID
	FilePath      string
	SnapshotAt    Millis
	QualifiedName string
	Kind          string
	Signature     string
	LineStart     int
	LineEnd       int
	BodyHash      string
	// ChangeType is new, modified, deleted or unchanged.
	ChangeType  string
	RenamedFrom string
}
