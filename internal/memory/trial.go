package memory

// Trial is an experiment on the user's own sessions: Share percent of them are given nothing,
// Placebo percent a text of the same length that says nothing of the project, the others what
// they are given always.
type Trial struct {
	ID      int64 `json:"id"`
	Share   int   `json:"share"`
	Placebo int   `json:"placebo"`
	// Secret decides which session is given what. It is in the database and its backups alone.
	Secret    []byte `json:"-"`
	StartedAt Millis `json:"started_at_epoch"`
	EndedAt   Millis `json:"ended_at_epoch,omitempty"`
}

// Runs reports whether the trial goes on.
func (t *Trial) Runs() bool { return t.ID != 0 && t.EndedAt == 0 }

// Arm is what a session is given by a trial; "" outside of one.
type Arm string

// The arms.
const (
	ArmMemory  Arm = "memory"
	ArmNothing Arm = "nothing"
	ArmPlacebo Arm = "placebo"
)

// Chance returns the probability of an arm.
func (t *Trial) Chance(arm Arm) float64 {
	switch arm {
	case ArmNothing:
		return float64(t.Share) / 100
	case ArmPlacebo:
		return float64(t.Placebo) / 100
	}
	return 1 - float64(t.Share+t.Placebo)/100
}
