package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// ParseObservations parses the numbers of observations, as 12 or '#12'.
func ParseObservations(given []string) ([]memory.ObservationID, error) {
	ids, err := ParseIDs(given)
	if err != nil {
		return nil, err
	}
	var numbers []memory.ObservationID
	for _, id := range ids {
		if id.Session || id.Ulid != "" {
			return nil, memory.Errorf(memory.CodeInvalid, "%s is not the number of an observation", id).WithHint("observations are named as 12 or '#12'")
		}
		numbers = append(numbers, memory.ObservationID(id.Number))
	}
	return numbers, nil
}

// RecordID names a record: #12 an observation, S12 a session, or the ULID of either.
type RecordID struct {
	Session bool
	Number  int64
	Ulid    memory.ULID // when it is not a number
}

// String returns the id for messages: observation #12, session S12, record 01K….
func (id RecordID) String() string {
	if id.Ulid != "" {
		return "record " + string(id.Ulid)
	}
	if id.Session {
		return fmt.Sprintf("session S%d", id.Number)
	}
	return fmt.Sprintf("observation #%d", id.Number)
}

// ParseIDs parses the ids of several arguments, each of which may be a list separated by
// commas.
func ParseIDs(given []string) ([]RecordID, error) {
	var ids []RecordID
	for _, text := range given {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			id, err := ParseID(part)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ParseID parses 12, #12, S12 or a ULID.
func ParseID(text string) (RecordID, error) {
	if n, err := api.ObservationNumber(text); err == nil {
		return RecordID{Number: int64(n)}, nil
	}
	if n, err := api.SessionNumber(text); err == nil && n != 0 {
		return RecordID{Session: true, Number: int64(n)}, nil
	}
	if api.IsULID(text) {
		return RecordID{Ulid: memory.ULID(strings.ToUpper(text))}, nil
	}
	return RecordID{}, memory.Errorf(memory.CodeInvalid, "%q is not an id", print.Line(text, 40)).
		WithHint("an observation is 12 or '#12', a session S12, either has a ULID too; `claude-mem recent` lists them")
}

// Read returns the observation or the session of the id; the other one is nil. It does
// not note that they were read.
func (id RecordID) Read(ctx context.Context, m api.Memory) (*api.Observation, *api.SessionRecords, error) {
	name := cmp.Or(string(id.Ulid), strconv.FormatInt(id.Number, 10))
	if !id.Session {
		o, err := m.Observation(ctx, api.ObservationRequest{Name: name})
		if err == nil || id.Ulid == "" || memory.CodeOf(err) != memory.CodeNotFound {
			return &o, nil, err
		}
	}
	s, err := m.Session(ctx, api.SessionRequest{Name: name, Format: api.FormatFull})
	return nil, &s, err
}
