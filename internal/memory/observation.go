package memory

import (
	"cmp"
	"slices"
)

// ObservationID is the short number of an observation ("#123" to people).
type ObservationID int64

// Name returns the number as people read and type it, "#123"; "" for none.
func (id ObservationID) Name() string { return RecordRef{RecordObservation, int64(id)}.Name() }

// ObservationType sorts observations by what they tell.
type ObservationType string

// The types of the mode "code".
const (
	TypeBugfix    ObservationType = "bugfix"
	TypeFeature   ObservationType = "feature"
	TypeRefactor  ObservationType = "refactor"
	TypeChange    ObservationType = "change"
	TypeDiscovery ObservationType = "discovery"
	TypeDecision  ObservationType = "decision"
)

var glyphs = map[ObservationType]string{
	TypeBugfix: "●", TypeFeature: "◆", TypeRefactor: "↻", TypeChange: "✓", TypeDecision: "⚖",
}

// Glyph returns the one-character sign of a type; all are in the Basic Multilingual Plane.
func (t ObservationType) Glyph() string { return cmp.Or(glyphs[t], "○") }

// Origin says who made a record.
type Origin string

// The makers of records.
const (
	OriginObserver Origin = "observer"
	OriginOffline  Origin = "offline"
	OriginAgent    Origin = "agent"
	OriginUser     Origin = "user"
	OriginImport   Origin = "import"
)

// Source says whose a learning of that origin is: "imported", "from alice", "" for one of this memory.
func (o Origin) Source() string {
	if o == OriginImport {
		return "imported"
	}
	return Provenance(o).Source()
}

// FileRole says what a session did with a file.
type FileRole string

// The roles of a file in an observation.
const (
	FileRead     FileRole = "read"
	FileModified FileRole = "modified"
)

// FileRef is a file that an event or an observation touches.
type FileRef struct {
	// Path is relative to the worktree root with '/', or absolute outside it.
	Path string   `json:"path"`
	Role FileRole `json:"role"`
	// Hash is the content's SHA-256 in hex when it could be taken, else "" = unknown.
	Hash string `json:"hash,omitempty"`
	// Symbols are the functions and types of the file that an observation is about, with
	// their code as it was then; none when they are not known.
	Symbols []SymbolHash `json:"symbols,omitempty"`
}

// FileRefs returns references to at most most files with their hashes: to the modified ones,
// then to those that were only read. Each list has a path once; a path that hashes lacks has an
// unknown hash.
func FileRefs(modified, read []string, hashes map[string]string, most int) []FileRef {
	var refs []FileRef
	for _, path := range modified {
		refs = append(refs, FileRef{Path: path, Role: FileModified, Hash: hashes[path]})
	}
	for _, path := range read {
		if !slices.Contains(modified, path) {
			refs = append(refs, FileRef{Path: path, Role: FileRead, Hash: hashes[path]})
		}
	}
	return refs[:min(len(refs), most)]
}

// SymbolHash is the code of a symbol at some time: its qualified name and a hash of its
// code without comments and formatting.
type SymbolHash struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
}

// FileState says how a file compares with what was recorded of it.
type FileState int

// The states of a file. FileUnknown is one of which no hash was recorded or none
// can be had now: it is outside the worktree, no regular file, not readable.
const (
	FileUnknown FileState = iota
	FileSame
	FileChanged
	FileGone
)

// Observation is one thing worth remembering.
type Observation struct {
	ID           ObservationID
	ULID         ULID
	Session      SessionID
	ProjectPath  string
	PromptNumber int
	Type         ObservationType
	Title        string
	Subtitle     string
	Narrative    string
	Facts        []string
	Concepts     []string
	Files        []FileRef
	// DiscoveryTokens estimates what finding this out cost in the host.
	DiscoveryTokens int
	// ContentHash makes the same content in one session one row; the store fills it in.
	ContentHash string
	Origin      Origin
	// Provenance says whose words it has, "" if unknown.
	Provenance Provenance
	AgentID    string
	AgentType  string
	Branch     string
	HeadCommit string
	TimesSeen  int
	Pinned     bool
	// Claimed is the origin that the file of an import claims, ClaimedPin that it is pinned there.
	// Neither is believed.
	Claimed    Origin
	ClaimedPin bool
	// SupersededBy is the later record of the project that reverses this one, 0 for none.
	SupersededBy ObservationID
	// Supersedes are the earlier records of the project that this one reverses. A distiller
	// sets it and storing the record acts on it; it is not read back.
	Supersedes []ObservationID
	CreatedAt  Millis
	// Damaged says that the text was changed on the disk: Title is Withheld.
	Damaged bool
}

// Current returns the observation that holds in place of one: itself, or the last of those
// that supersede each other. by has, for each that is superseded, the one that did it. In a
// circle, which only a damaged database has, it stops after as many steps as by has entries.
func Current(by map[ObservationID]ObservationID, id ObservationID) ObservationID {
	for range by { // bounded by the number of links
		next, superseded := by[id]
		if !superseded {
			break
		}
		id = next
	}
	return id
}

// FilesIn returns the paths of the files with the given role, in order.
func (o *Observation) FilesIn(role FileRole) []string {
	var paths []string
	for _, f := range o.Files {
		if f.Role == role {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
