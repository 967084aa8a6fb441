package gate

// FailureEvidence is what speaks for a record telling of the failure at hand.
type FailureEvidence struct {
	// Test says that it names the very test that failed.
	Test bool
	// Message is the share of the weight of an error line's own words that one
	// statement of the record has, 0 to 1; Own is that line's weight: a word that any
	// error may have weighs nothing, a plain word 1, an identifier, an error code or
	// something in quotes 2, a program or module that is missing 3.
	Message float64
	Own     float64
	// Place says that it is about a file in which the error occurred.
	Place bool
	// Fixed says that it tells what made the failure go away.
	Fixed bool
}

const (
	// ownMessage is the weight from which a line is an error of its own and not one
	// of the language's: an identifier and a word.
	ownMessage = 3
	// sameMessage is the share of such a line's words that makes it the same error.
	sameMessage = 0.7
)

// Failure decides whether a record tells what fixed the failure at hand before.
func Failure(e FailureEvidence) bool {
	if !e.Fixed {
		return false
	}
	switch {
	case e.Test:
		return true
	case e.Own >= ownMessage:
		return e.Message >= sameMessage
	default: // "undefined: x" is the same only in the same file
		return e.Own > 0 && e.Message >= 1 && e.Place
	}
}
