package memory

// RecordKind says what sort of record can be found.
type RecordKind string

// The kinds of record that are searched.
const (
	RecordObservation RecordKind = "observation"
	RecordSummary     RecordKind = "summary"
	RecordPrompt      RecordKind = "prompt"
)

// RecordKinds returns the kinds of record that are searched.
func RecordKinds() []RecordKind {
	return []RecordKind{RecordObservation, RecordSummary, RecordPrompt}
}

// RecordRef names a record by kind and short number.
type RecordRef struct {
	Kind RecordKind `json:"kind"`
	ID   int64      `json:"id"`
}

// Document is a record as it is searched; its texts are those of the record.
type Document struct {
	RecordRef
	ProjectPath string
	Session     SessionID
	// Type is an observation's, "" for other kinds.
	Type ObservationType
	// Title is an observation's title, a summary's request, "" for a prompt.
	Title string
	// Text is an observation's subtitle and narrative, what a summary tells
	// besides the request, a prompt's text.
	Text     string
	Facts    []string
	Concepts []string
	// Files are paths, each once.
	Files []string
	// Symbols are the qualified names of functions and types that an observation is
	// about, or that a summary's turn changed.
	Symbols []string
	// Neighbours are the texts of the session's two prompts before a prompt and of
	// the one after it; "" for other kinds.
	Neighbours string
	// Previous is the number of the session's prompt before a prompt, 0 for none:
	// its Neighbours change with this one.
	Previous  int64
	CreatedAt Millis
}
