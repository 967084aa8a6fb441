package answer

// name is an element of the answer format.
type name uint8

// The elements. Order matters only for the ranges in the functions below.
const (
	noName name = iota

	nWrapper // observations, summaries, learnings: wrappers of records, ignored
	nThink
	nSkip

	nObservation
	nSummary
	nLearning

	nType
	nTitle
	nSubtitle
	nNarrative
	nFacts
	nConcepts
	nSupersedes
	nFilesModified

	nFilesRead // in observations and in summaries

	nRequest
	nInvestigated
	nLearned
	nCompleted
	nNextSteps
	nFilesEdited
	nNotes

	nContent
	nCategory
	nConfidence

	nFact
	nConcept
	nFile
	nItem

	nameCount
)

// names maps every spelling of an element, folded (see fold), to it.
var names = map[string]name{
	"observations": nWrapper, "summaries": nWrapper, "learnings": nWrapper,
	"think": nThink, "thinking": nThink, "reasoning": nThink,
	"skipsummary": nSkip,
	"observation": nObservation,
	"summary":     nSummary, "sessionsummary": nSummary,
	"learning": nLearning,
	"type":     nType, "title": nTitle, "subtitle": nSubtitle, "narrative": nNarrative,
	"facts": nFacts, "concepts": nConcepts,
	"supersedes": nSupersedes, "supersede": nSupersedes,
	"filesread": nFilesRead, "filesmodified": nFilesModified, "fileschanged": nFilesModified,
	"request": nRequest, "investigated": nInvestigated, "learned": nLearned,
	"completed": nCompleted, "nextsteps": nNextSteps, "nextstep": nNextSteps,
	"filesedited": nFilesEdited, "notes": nNotes, "note": nNotes,
	"content": nContent, "category": nCategory, "confidence": nConfidence,
	"fact": nFact, "concept": nConcept, "file": nFile, "filepath": nFile,
	"item": nItem, "li": nItem,
}

// maxName is the longest spelling that is looked up, in bytes.
const maxName = 32

// fold returns the element of a name, ignoring case, '_', '-' and a namespace
// prefix.
func fold(written string) name {
	if len(written) > maxName {
		return noName
	}
	var buf [maxName]byte
	n := 0
	for i := 0; i < len(written); i++ {
		switch c := written[i]; {
		case c == '_' || c == '-':
		case c == ':':
			n = 0
		case 'A' <= c && c <= 'Z':
			buf[n] = c + 'a' - 'A'
			n++
		default:
			buf[n] = c
			n++
		}
	}
	return names[string(buf[:n])]
}

func (n name) isRecord() bool { return n == nObservation || n == nSummary || n == nLearning }
func (n name) isChild() bool  { return n >= nFact && n <= nItem }
func (n name) isField() bool  { return n >= nType && n <= nConfidence }

func (n name) isList() bool {
	return n == nFacts || n == nConcepts || n == nSupersedes || n == nFilesRead || n == nFilesModified || n == nFilesEdited
}

// nativeTo reports whether records of a kind have this field.
func (n name) nativeTo(kind name) bool {
	switch kind {
	case nObservation:
		return n >= nType && n <= nFilesRead
	case nSummary:
		return n >= nFilesRead && n <= nNotes
	case nLearning:
		return n >= nContent && n <= nConfidence
	}
	return false
}

// list returns the field that a child element belongs to.
func (n name) list() name {
	switch n {
	case nFact:
		return nFacts
	case nConcept:
		return nConcepts
	}
	return n
}
