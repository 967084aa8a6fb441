package memory

import (
	"fmt"
	"strings"
)

// Trial is an experiment on the user's own sessions: Share percent of them are given nothing,
// Placebo percent a text of the same length that says nothing of the project, the others what
// they are given always, but for Moments percent of the lines at their prompts, files and failures.
type Trial struct {
	ID      int64 `json:"id"`
	Share   int   `json:"share"`
	Placebo int   `json:"placebo"`
	Moments int   `json:"moments"`
	// Secret decides which session is given what. It is in the database and its backups alone.
	Secret    []byte `json:"-"`
	StartedAt Millis `json:"started_at_epoch"`
	EndedAt   Millis `json:"ended_at_epoch,omitempty"`
	// Lifted: a person has had the session that asks given its block all the same (SourceNow).
	Lifted bool `json:"-"`
	// Forked is the arm of the session that the one that asks was forked from, "" for one that was not.
	Forked Arm `json:"-"`
	// Places are those that were switched, by PlaceName, with the time of that.
	Places map[string]Millis `json:"-"`
}

// The states of a place that was switched: off since it did harm, on again since it does not, or kept on by a person.
const (
	PlaceOff  = "off"
	PlaceOn   = "on"
	PlaceKept = "kept"
)

// offShare is the percent of the lines that are held back at a place that is switched off. The others are given, so that
// it can return.
const offShare = 90

// PlaceName names the state of a place (a Moment) of a project in Trial.Places; "" is all projects.
func PlaceName(state, place, project string) string { return state + ":" + place + ":" + project }

// HeldAt returns the percent of the lines that are held back at a place of a project.
func (t *Trial) HeldAt(place, project string) int {
	off := t.Places[PlaceName(PlaceOff, place, "")] > 0 || t.Places[PlaceName(PlaceOff, place, project)] > 0
	switch {
	case off && t.Places[PlaceName(PlaceKept, place, "")] == 0:
		return offShare
	case t.Runs():
		return t.Moments
	}
	return 0
}

// Said says in words what the trial withholds.
func (t *Trial) Said() string {
	said := ""
	for _, part := range []struct {
		share int
		of    string
	}{{t.Share, "of the sessions are given nothing"}, {t.Placebo, "a placebo"}, {t.Moments, "of the lines at prompts, files and failures are held back"}} {
		if part.share > 0 {
			said += fmt.Sprintf(", %d %% %s", part.share, part.of)
		}
	}
	return strings.TrimPrefix(said, ", ")
}

// SourceNow is the source of a block that a person asks for, whatever the arm of the session.
const SourceNow = "now"

// Runs reports whether the trial goes on.
func (t *Trial) Runs() bool { return t.ID != 0 && t.EndedAt == 0 }

// Arm is what a session is given by a trial; "" outside of one.
type Arm string

// The arms.
const (
	ArmMemory  Arm = "memory"
	ArmNothing Arm = "nothing"
	ArmPlacebo Arm = "placebo"
	// ArmHeld: lines at a prompt, file or failure were held back.
	ArmHeld Arm = "held"
)

// Chance returns the probability of an arm.
func (t *Trial) Chance(arm Arm) float64 {
	switch arm {
	case ArmNothing, ArmHeld:
		return float64(t.Share) / 100
	case ArmPlacebo:
		return float64(t.Placebo) / 100
	}
	return 1 - float64(t.Share+t.Placebo)/100
}
