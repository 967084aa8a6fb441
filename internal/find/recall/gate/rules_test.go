package gate

import (
	"testing"

	"claudemem/internal/memory"
)

func TestFile(t *testing.T) {
	fix := FileEvidence{Type: memory.TypeBugfix, Fixed: true, Changed: true, Work: 1}
	with := func(e FileEvidence, change func(*FileEvidence)) FileEvidence {
		change(&e)
		return e
	}
	decision := FileEvidence{Type: memory.TypeDecision}
	trap := FileEvidence{Type: memory.TypeDiscovery, Warns: true}
	for name, tt := range map[string]struct {
		evidence FileEvidence
		want     bool
	}{
		"a bug fixed in it":                      {fix, true},
		"a bug fixed by a change":                {with(fix, func(e *FileEvidence) { e.Type = memory.TypeChange }), true},
		"with two others":                        {with(fix, func(e *FileEvidence) { e.Work = 3 }), true},
		"in a sweep":                             {with(fix, func(e *FileEvidence) { e.Work = 4 }), false},
		"in a sweep that names it":               {with(fix, func(e *FileEvidence) { e.Work, e.Accounts = 4, true }), true},
		"a bug elsewhere that names it":          {FileEvidence{Type: memory.TypeBugfix, Fixed: true, Titled: true}, false},
		"the test of a fix":                      {with(fix, func(e *FileEvidence) { e.Minor, e.Work = true, 2 }), false},
		"the test of a fix, in its title":        {with(fix, func(e *FileEvidence) { e.Minor, e.Work, e.Titled = true, 2, true }), true},
		"a fix of nothing but a manifest":        {with(fix, func(e *FileEvidence) { e.Record = true }), false},
		"a fix that was overcome":                {with(fix, func(e *FileEvidence) { e.Overcome = true }), false},
		"a decision about something else":        {decision, false},
		"a decision that tells of it":            {with(decision, func(e *FileEvidence) { e.Accounts = true }), true},
		"a decision written down in it":          {with(decision, func(e *FileEvidence) { e.Changed, e.Record, e.Work = true, true, 1 }), true},
		"a trap, only read":                      {trap, false},
		"a trap in it":                           {with(trap, func(e *FileEvidence) { e.Titled = true }), true},
		"a trap in it, overcome":                 {with(trap, func(e *FileEvidence) { e.Titled, e.Overcome = true, true }), false},
		"how it works":                           {FileEvidence{Type: memory.TypeDiscovery, Titled: true}, false},
		"why it is so":                           {FileEvidence{Type: memory.TypeDiscovery, Titled: true, Reasons: true}, true},
		"a feature":                              {FileEvidence{Type: memory.TypeFeature, Changed: true, Work: 1, Titled: true}, false},
		"a feature with a trap":                  {FileEvidence{Type: memory.TypeFeature, Changed: true, Work: 1, Warns: true}, true},
		"pinned and read":                        {FileEvidence{Type: memory.TypeChange, Pinned: true}, false},
		"pinned and changed, whatever the scope": {FileEvidence{Type: memory.TypeChange, Pinned: true, Changed: true, Work: 40, Record: true}, true},
		"nothing":                                {FileEvidence{}, false},
	} {
		if got := File(tt.evidence); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestFailure(t *testing.T) {
	own := FailureEvidence{Fixed: true, Own: 4, Message: 0.7, Subject: true}
	with := func(e FailureEvidence, change func(*FailureEvidence)) FailureEvidence {
		change(&e)
		return e
	}
	for name, tt := range map[string]struct {
		evidence FailureEvidence
		want     bool
	}{
		"the same message":                      {own, true},
		"and nobody fixed it":                   {with(own, func(e *FailureEvidence) { e.Fixed = false }), false},
		"half of the message":                   {with(own, func(e *FailureEvidence) { e.Message = 0.5 }), false},
		"half of it, in the same file":          {with(own, func(e *FailureEvidence) { e.Message, e.Place = 0.5, true }), false},
		"of something else":                     {with(own, func(e *FailureEvidence) { e.Subject = false }), false},
		"the same test":                         {FailureEvidence{Fixed: true, Test: true}, true},
		"the same test, still failing":          {FailureEvidence{Test: true}, false},
		"a language's message":                  {with(own, func(e *FailureEvidence) { e.Own, e.Message = 2, 1 }), false},
		"in the same file":                      {with(own, func(e *FailureEvidence) { e.Own, e.Message, e.Place = 2, 1, true }), true},
		"part of it in the same file":           {with(own, func(e *FailureEvidence) { e.Own, e.Message, e.Place = 2, 0.5, true }), false},
		"no words, the same file":               {FailureEvidence{Fixed: true, Subject: true, Place: true, Kind: 1}, false},
		"no words, the same file and function":  {FailureEvidence{Fixed: true, Subject: true, Place: true, Function: true, Kind: 1}, true},
		"another sort of error in the function": {FailureEvidence{Fixed: true, Subject: true, Place: true, Function: true, Kind: 0.3}, false},
		"a function of that name elsewhere":     {FailureEvidence{Fixed: true, Subject: true, Function: true, Kind: 1}, false},
		"nothing":                               {FailureEvidence{}, false},
	} {
		if got := Failure(tt.evidence); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
