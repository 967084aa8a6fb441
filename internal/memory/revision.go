package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Revision orders the edits of one field of a record on several devices without clocks: Count is above
// all that the device had seen, and the device breaks ties. The zero value is the field as it was made.
type Revision struct {
	Count  int64  `json:"n,omitempty"`
	Device string `json:"d,omitempty"`
}

// Compare orders revisions, the earlier one first.
func (r Revision) Compare(other Revision) int {
	return cmp.Or(cmp.Compare(r.Count, other.Count), cmp.Compare(r.Device, other.Device))
}

// FieldValue is a JSON object that stands in JSON as it is.
type FieldValue string

// MarshalJSON implements json.Marshaler.
func (v FieldValue) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(v, "null")), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (v *FieldValue) UnmarshalJSON(object []byte) error {
	*v = FieldValue(object)
	return nil
}

// Field is a part of a record that is edited as a whole: members of its portable form.
type Field struct {
	Revision
	Value FieldValue `json:"v,omitempty"`
	// Over names the revisions of texts that the edit replaced, such as "3@a 3@b".
	Over string `json:"o,omitempty"`
}

// compare orders fields by revision. Two that were made alike on two devices are ordered by their values.
func (f Field) compare(other Field) int {
	return cmp.Or(f.Compare(other.Revision), cmp.Compare(f.Value, other.Value), cmp.Compare(f.Over, other.Over))
}

// FieldText is the field whose earlier values are kept: what a record says.
const FieldText = "text"

// mostVersions bounds the earlier texts of a record that are kept, the last ones first.
const mostVersions = 20

// Shared is a record as the devices of one person exchange it: all of its fields with their revisions.
// Of two states of a record Merge makes one, the same in whatever order and how often they come.
type Shared struct {
	// Kind is that of Portable. Key names the record on all devices: a hash of what it was made of.
	Kind string `json:"k"`
	Key  string `json:"key"`
	// Gone says that it was forgotten: nothing else of it is kept, and it never comes back.
	Gone bool `json:"gone,omitempty"`
	ULID ULID `json:"ulid,omitempty"`
	// Session is the Key of its session.
	Session string `json:"session,omitempty"`
	// Project is the identity of its project (docs/devices.md).
	Project string           `json:"project,omitempty"`
	Fields  map[string]Field `json:"f,omitempty"`
	// Seen is how often each device has seen it since it was shared; "" has how often it was seen before.
	Seen map[string]int `json:"seen,omitempty"`
	// Versions are earlier texts, and those of concurrent edits that did not become current.
	Versions []Field `json:"versions,omitempty"`
}

// Merge adds what another state of the same record says.
func (s *Shared) Merge(other *Shared) {
	if s.Gone || other.Gone {
		*s = Shared{Kind: s.Kind, Key: s.Key, Gone: true}
		return
	}
	s.ULID, s.Project, s.Session = least(s.ULID, other.ULID), FirstIdentity(s.Project, other.Project), least(s.Session, other.Session)
	for _, v := range other.Versions {
		s.addVersion(v)
	}
	for name, theirs := range other.Fields {
		ours, known := s.Fields[name]
		if known && ours.compare(theirs) >= 0 {
			ours, theirs = theirs, ours
		}
		s.set(name, theirs)
		if known && name == FieldText && ours != theirs {
			s.addVersion(ours)
		}
	}
	for device, n := range other.Seen {
		s.see(device, max(n, s.Seen[device]))
	}
}

// least returns the smaller one of two names; "" is no name.
func least[T ~string](a, b T) T {
	if a == "" || b == "" {
		return max(a, b)
	}
	return min(a, b)
}

// NamedProject begins the identity that a person has given to a project.
const NamedProject = "named:"

// FirstIdentity returns that of two identities of a project by which it goes: one that a person has given, else the smaller one; ""
// is none.
func FirstIdentity(a, b string) string {
	if named := strings.HasPrefix(a, NamedProject); a != "" && b != "" && named != strings.HasPrefix(b, NamedProject) {
		if named {
			return a
		}
		return b
	}
	return least(a, b)
}

// Edit gives a field a new value and revision.
func (s *Shared) Edit(name string, value FieldValue, r Revision) {
	f := Field{Revision: r, Value: value}
	if old, known := s.Fields[name]; known && name == FieldText {
		s.addVersion(old)
		for _, v := range s.Contested() {
			f.Over += fmt.Sprintf("%d@%s ", v.Count, v.Device)
		}
	}
	s.set(name, f)
}

// Contested returns the texts that no later edit has replaced and that are not current: of edits that did not know of each other.
func (s *Shared) Contested() (list []Field) {
	over := map[string]bool{}
	for _, f := range append(slices.Clone(s.Versions), s.Fields[FieldText]) {
		for _, name := range strings.Fields(f.Over) {
			over[name] = true
		}
	}
	for _, v := range s.Versions {
		if !over[fmt.Sprintf("%d@%s", v.Count, v.Device)] {
			list = append(list, v)
		}
	}
	return list
}

func (s *Shared) set(name string, f Field) {
	if s.Fields == nil {
		s.Fields = map[string]Field{}
	}
	s.Fields[name] = f
}

// See counts that a device has seen the record n times more.
func (s *Shared) See(device string, n int) { s.see(device, s.Seen[device]+n) }

func (s *Shared) see(device string, n int) {
	if s.Seen == nil {
		s.Seen = map[string]int{}
	}
	s.Seen[device] = n
}

// TimesSeen returns how often all devices together have seen the record.
func (s *Shared) TimesSeen() int {
	n := 0
	for _, seen := range s.Seen {
		n += seen
	}
	return n
}

// addVersion keeps an edited text that is not current. The text that the record was made with is none:
// a device that has edited it before it was shared no longer has it.
func (s *Shared) addVersion(f Field) {
	if f.Revision == (Revision{}) {
		return
	}
	i, known := slices.BinarySearchFunc(s.Versions, f, func(a, b Field) int { return -a.compare(b) })
	if !known {
		s.Versions = slices.Insert(slices.Clone(s.Versions), i, f)
	}
	s.Versions = s.Versions[:min(len(s.Versions), mostVersions)]
}

// Clone returns a copy that shares nothing that changes.
func (s *Shared) Clone() *Shared {
	c := *s
	c.Fields, c.Seen, c.Versions = maps.Clone(s.Fields), maps.Clone(s.Seen), slices.Clone(s.Versions)
	return &c
}

// LastCount returns the highest count of the revisions.
func (s *Shared) LastCount() int64 {
	var last int64
	for _, f := range s.Fields {
		last = max(last, f.Count)
	}
	for _, f := range s.Versions {
		last = max(last, f.Count)
	}
	return last
}

// Version is an earlier text of an observation, or one of an edit on another device that did not become
// current. Device is the one that wrote it.
type Version struct {
	Device    string          `json:"device"`
	Type      ObservationType `json:"type"`
	Title     string          `json:"title"`
	Subtitle  string          `json:"subtitle,omitempty"`
	Narrative string          `json:"narrative,omitempty"`
	Facts     []string        `json:"facts,omitempty"`
}
