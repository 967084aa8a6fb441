package gate

// FailureEvidence measures how well a record matches a failure.
type FailureEvidence struct {
	// Test: the record names the test that failed.
	Test bool
	// Message is how much of the error line one statement of the record contains, by the
	// weight of its words, 0 to 1. Own is the weight of the whole line. A word of any error
	// weighs 0, a plain word 1, an identifier, an error code or something in quotes 2, a
	// missing program or module 3.
	Message float64
	Own     float64
	// Subject: the record has the words that the line quotes, or the line quotes none.
	Subject bool
	// Kind is the share of the words that any error may have, 0 to 1: whether it is
	// the same sort of error.
	Kind float64
	// Place: the record is about a file where the error occurred. Function: it names a
	// function where the error occurred.
	Place, Function bool
	// Fixed: the record says what fixed the failure.
	Fixed bool
}

// The thresholds come from the labelled failures of package recall
// (testdata/moments): of the pairs of a failure and a record that was found for it.
const (
	// ownMessage is the weight from which a line is an error of its own and not one
	// of the language's: an identifier and a word.
	ownMessage = 3
	// sameMessage is the share of such a line's words that makes it the same error.
	// The same ones have 0.71 and more, others at most 0.57.
	sameMessage = 0.65
	// sameKind is the share that makes a language's error the same sort of error.
	sameKind = 0.5
)

// Failure reports whether a record is about the same failure and says what fixed it.
func Failure(e FailureEvidence) bool {
	switch {
	case !e.Fixed:
		return false
	case e.Test:
		return true
	case e.Own >= ownMessage && e.Message >= sameMessage && e.Subject:
		return true
	case !e.Place: // "undefined: x" is the same only in the same file
		return false
	case e.Own > 0 && e.Own < ownMessage && e.Message >= 1:
		return true
	default: // and a null that was dereferenced only in the same function
		return e.Function && e.Kind >= sameKind
	}
}
