package likeness

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// runsOfText bounds the runs that are kept of one text: no long page displaces all others.
const runsOfText = 5000

// ForeignRuns are the runs of words (text.Runs) of the foreign texts that the sessions of a
// project have read lately, as hashes under the memory's own number: what repeats one of
// them later is foreign, too, whoever says it.
type ForeignRuns struct {
	memory int64
	of     map[uint64]memory.Provenance
	// own are runs that the project's text has, too.
	own map[uint64]bool
}

// NewForeignRuns returns none, for the hashes of the memory with a number.
func NewForeignRuns(memoryNumber int64) *ForeignRuns {
	return &ForeignRuns{memory: memoryNumber, of: map[uint64]memory.Provenance{}, own: map[uint64]bool{}}
}

// hashes returns the hashes of a text's runs, each once, in order.
func (f *ForeignRuns) hashes(s string) []uint64 {
	var list []uint64
	seen := map[uint64]bool{}
	for _, run := range text.Runs(s) {
		sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(f.memory)), run...))
		if h := binary.BigEndian.Uint64(sum[:]); !seen[h] {
			seen[h] = true
			list = append(list, h)
		}
	}
	return list
}

// AddRun adds the hash of a run of a foreign text.
func (f *ForeignRuns) AddRun(from memory.Provenance, hash uint64) {
	f.of[hash] = memory.LeastTrusted(from, f.of[hash])
}

// Own notes a text of the project's: what foreign texts that are added after it have in
// common with it is not theirs.
func (f *ForeignRuns) Own(s string) {
	for _, h := range f.hashes(s) {
		f.own[h] = true
	}
}

// Add adds a foreign text and returns it as it is kept.
func (f *ForeignRuns) Add(turn int, from memory.Provenance, s string) memory.ForeignText {
	hashes := slices.DeleteFunc(f.hashes(s), func(h uint64) bool { return f.own[h] })
	for _, h := range hashes {
		f.AddRun(from, h)
	}
	return memory.ForeignText{PromptNumber: turn, Provenance: from, Runs: hashes[:min(len(hashes), runsOfText)]}
}

// Repeated returns the provenance of what a text repeats, "" if it has no run in common with
// a foreign text, or only such as the user has typed.
func (f *ForeignRuns) Repeated(s, typed string) memory.Provenance {
	var from memory.Provenance
	var own map[uint64]bool
	for _, h := range f.hashes(s) {
		p := f.of[h]
		if p == "" {
			continue
		}
		if own == nil {
			own = map[uint64]bool{}
			for _, t := range f.hashes(typed) {
				own[t] = true
			}
		}
		if !own[h] {
			from = memory.LeastTrusted(from, p)
		}
	}
	return from
}
