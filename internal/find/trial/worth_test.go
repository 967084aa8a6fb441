package trial

import (
	"fmt"
	"math"
	"testing"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// lineOf is a line of a record with its fates.
func lineOf(id int64, opened, touched, cured bool) accounts.GivenLine {
	l := accounts.GivenLine{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: id}, Opened: &opened, Touched: &touched}
	if cured {
		l.Cured = &cured
	}
	return l
}

// TestWorth: verdicts by use, with lots and without.
func TestWorth(t *testing.T) {
	w := Worth{}
	// counts are given, of these used, held back, of these used.
	add := func(id int64, place string, held int, counts [4]int, use func(used bool) accounts.GivenLine) {
		for i, arm := range []memory.Arm{memory.ArmMemory, memory.ArmHeld} {
			for n := range counts[2*i] {
				w.Add(&accounts.Given{Place: place, Arm: arm, Held: held, Lines: []accounts.GivenLine{use(n < counts[2*i+1])}})
			}
		}
	}
	opened := func(id int64) func(bool) accounts.GivenLine {
		return func(used bool) accounts.GivenLine { return lineOf(id, used, false, false) }
	}
	touched := func(id int64) func(bool) accounts.GivenLine {
		return func(used bool) accounts.GivenLine { return lineOf(id, false, used, false) }
	}
	cured := func(id int64) func(bool) accounts.GivenLine {
		return func(used bool) accounts.GivenLine { return lineOf(id, false, false, used) }
	}
	cited := func(id int64) func(bool) accounts.GivenLine {
		return func(named bool) accounts.GivenLine {
			l := lineOf(id, false, false, false)
			l.Cited = &named
			return l
		}
	}
	tests := []struct {
		what   string
		place  string
		held   int
		counts [4]int
		use    func(int64) func(bool) accounts.GivenLine
		want   memory.Verdict
	}{
		{"a cure", "failure", 50, [4]int{15, 12, 15, 3}, cured, 3},
		{"its file is touched anyway", "file", 50, [4]int{20, 20, 20, 20}, touched, 0},
		{"its number is named more often", "failure", 50, [4]int{20, 10, 20, 0}, cited, 3},
		{"its number is of an issue", "failure", 50, [4]int{20, 10, 20, 10}, cited, 0},
		{"its number, with no lot", "prompt", 0, [4]int{9, 9}, cited, 0},
		{"its file is touched, with no lot", "file", 0, [4]int{9, 9}, touched, 0},
		{"its file is touched, without a lot, often", "file", 0, [4]int{12, 12}, touched, -1},
		{"noise", "failure", 50, [4]int{12, 0, 12, 0}, cured, -1},
		{"too few to say much", "prompt", 50, [4]int{2, 2, 1, 0}, opened, 1},
		{"it distracts", "prompt", 50, [4]int{20, 2, 20, 16}, opened, -3},
		{"never held back: nothing to compare with", "prompt", 50, [4]int{8, 8, 0, 0}, opened, 0},
		{"opened more often than others", "prompt", 0, [4]int{40, 20}, opened, 3},
		{"not often yet", "prompt", 0, [4]int{9, 0}, opened, 0},
		{"often, and never used", "prompt", 0, [4]int{12, 0}, opened, -1},
		{"too often", "prompt", 0, [4]int{1000, 0}, opened, memory.Retired},
	}
	for i, tt := range tests {
		add(int64(i+1), tt.place, tt.held, tt.counts, tt.use(int64(i+1)))
	}
	w.Add(&accounts.Given{Place: "block", Lines: []accounts.GivenLine{{Words: "of no record"}}})
	verdicts := w.Verdicts()
	for i, tt := range tests {
		if got := verdicts[memory.ObservationID(i+1)]; got != tt.want {
			t.Errorf("%s: %d, want %d", tt.what, got, tt.want)
		}
	}
	if len((Worth{}).Verdicts()) != 0 {
		t.Error("verdicts on nothing")
	}
}

// TestDraw: lots have their share, one that is told again draws the same, and what is held back has no tokens.
func TestDraw(t *testing.T) {
	running := memory.Trial{ID: 1, Moments: 30, Secret: []byte("a")}
	held, withSession := 0, 0
	const n = 10_000
	for i := range n {
		in := memory.Injection{Host: memory.HostCodex, HostSessionID: fmt.Sprint("s", i/10), Tokens: 60}
		again := in
		Draw(&running, &in, fmt.Sprint("call", i))
		Draw(&running, &again, fmt.Sprint("call", i))
		if in.Arm != again.Arm || in.Held != 30 || (in.Arm == memory.ArmHeld) != (in.Tokens == 0) {
			t.Fatalf("%d: %+v, again %+v", i, in, again)
		}
		if in.Arm == memory.ArmHeld {
			held++
			if ArmOf(&memory.Trial{ID: 1, Share: 30, Secret: []byte("a")}, in.Host, in.HostSessionID) == memory.ArmNothing {
				withSession++
			}
		}
	}
	if share := float64(held) / n; math.Abs(share-.3) > .015 {
		t.Errorf("%.3f are held back, want .3", share)
	}
	if share := float64(withSession) / float64(held); math.Abs(share-.3) > .03 {
		t.Errorf("%.3f of what is held back is of sessions that the lot of sessions chose, want .3", share)
	}
	for name, none := range map[string]memory.Trial{"none": {}, "ended": {ID: 1, Moments: 95, EndedAt: 5}, "of sessions": {ID: 1, Share: 50}, "lifted": {ID: 1, Moments: 95, Lifted: true}} {
		for i := range 50 {
			in := memory.Injection{}
			if Draw(&none, &in, fmt.Sprint(i)); in.Arm != "" || in.Held != 0 {
				t.Errorf("%s: a lot was drawn", name)
			}
		}
	}
}

// TestMoments looks after each tenth of 400 moments at places where lines change nothing, and where they shorten the turn by
// a half and are used.
func TestMoments(t *testing.T) {
	const runs = 300
	for name, effect := range map[string]float64{"nothing": 0, "half": -.7} {
		claims, found := 0, 0
		for run := range runs {
			p := newPerson(uint64(run))
			lots := memory.Trial{ID: 1, Moments: 40, Secret: fmt.Append(nil, "moments", run)}
			var texts []accounts.Given
			claimed := false
			for i := range 400 {
				in := memory.Injection{Host: memory.HostCodex, HostSessionID: fmt.Sprint(i / 4)}
				Draw(&lots, &in, fmt.Sprint(i))
				long, touched := 2+p.NormFloat64(), p.IntN(2) == 0 // its file is touched anyway
				if in.Arm == memory.ArmMemory {
					long += effect
				}
				texts = append(texts, accounts.Given{Place: "file", ProjectPath: fmt.Sprint("/p/", i%3), Arm: in.Arm, Held: in.Held,
					Calls: int(math.Exp(max(0, long))), Lines: []accounts.GivenLine{lineOf(1, false, touched, false)}})
				if i%10 != 9 {
					continue
				}
				calls, used := Moments(texts, memory.MomentFile, MomentRate)
				claimed = claimed || used.Known() || calls.Low > 0 || effect == 0 && calls.Known()
			}
			if claimed {
				claims++
			}
			if calls, _ := Moments(texts, memory.MomentFile, MomentRate); calls.High < 0 {
				found++
			}
			if calls, _ := Moments(texts, memory.MomentPrompt, MomentRate); calls.Sessions != 0 {
				t.Fatal("moments of another place count")
			}
		}
		t.Logf("%s: a false claim at some look in %d of %d runs, found in %d", name, claims, runs, found)
		if claims > runs*65/1000 || effect != 0 && found < runs*8/10 {
			t.Errorf("%s: a false claim in %d of %d runs, found in %d", name, claims, runs, found)
		}
	}
}
