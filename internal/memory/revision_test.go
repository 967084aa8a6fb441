package memory

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestSharedConverges: five devices edit, see and forget a record at random and exchange states in any
// order, some twice and some never. Once each has got the last state of all, they have the same.
func TestSharedConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const devices = 5
		made := &Shared{Kind: "observation", Key: "k", ULID: "B", Fields: map[string]Field{FieldText: {Value: "made"}, "pin": {Value: "{}"}}, Seen: map[string]int{"": 2}}
		var states [devices]*Shared
		var counts [devices]int64
		for i := range states {
			states[i] = made.Clone()
		}
		states[1].ULID = "A" // made alike on two devices
		var sent []*Shared
		forgotten := false
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, devices-1).Draw(t, "device")
			name := fmt.Sprint("d", i)
			switch rapid.IntRange(0, 9).Draw(t, "operation") {
			case 0, 1, 2:
				if !states[i].Gone {
					counts[i]++
					field := rapid.SampledFrom([]string{FieldText, "pin", "hide"}).Draw(t, "field")
					states[i].Edit(field, FieldValue(rapid.StringN(1, 3, 3).Draw(t, "value")), Revision{counts[i], name})
				}
			case 3:
				if !states[i].Gone {
					states[i].See(name, 1)
				}
			case 4:
				if rapid.IntRange(0, 9).Draw(t, "forget") == 0 {
					states[i].Merge(&Shared{Kind: made.Kind, Key: made.Key, Gone: true})
					forgotten = true
				}
			case 5, 6:
				sent = append(sent, states[i].Clone())
			default:
				if len(sent) > 0 { // what was sent may come again, late, or never
					counts[i] = receive(states[i], sent[rapid.IntRange(0, len(sent)-1).Draw(t, "sent")], counts[i])
				}
			}
		}
		for i := range states {
			sent = append(sent, states[i].Clone())
		}
		last := sent[len(sent)-devices:]
		for i := range states {
			for _, j := range rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(t, "order") {
				receive(states[i], last[j], 0)
			}
		}
		for i := range states {
			if diff := cmp.Diff(states[0], states[i], cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("devices 0 and %d differ:\n%s", i, diff)
			}
		}
		if states[0].Gone != forgotten {
			t.Fatalf("gone %v, want %v", states[0].Gone, forgotten)
		}
	})
}

func receive(s, from *Shared, count int64) int64 {
	s.Merge(from)
	return max(count, s.LastCount())
}

// TestSharedMerge: a later edit wins whatever comes first, the other text is kept, and an old state of a
// device that was away changes nothing.
func TestSharedMerge(t *testing.T) {
	made := Shared{Kind: "observation", Key: "k", Fields: map[string]Field{FieldText: {Value: "made"}}, Seen: map[string]int{"": 1}}
	a, b := made.Clone(), made.Clone()
	a.Edit(FieldText, "of a", Revision{3, "a"})
	a.See("a", 2)
	b.Edit(FieldText, "of b", Revision{3, "b"})
	b.Edit("hide", "hidden", Revision{4, "b"})
	first, second := a.Clone(), b.Clone()
	first.Merge(b)
	second.Merge(a)
	second.Merge(&made)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the order matters:\n%s", diff)
	}
	if got := first.Fields[FieldText].Value; got != "of b" {
		t.Errorf("current is %q", got)
	}
	if want := []Field{{Revision: Revision{3, "a"}, Value: "of a"}}; !cmp.Equal(first.Versions, want) {
		t.Errorf("versions %v, want %v", first.Versions, want)
	}
	if got := first.Contested(); !cmp.Equal(got, first.Versions) {
		t.Errorf("contested %v, want that of a", got)
	}
	judged := second.Clone()
	judged.Edit(FieldText, "of both", Revision{5, "a"})
	judged.Edit(FieldText, "of both again", Revision{6, "b"})
	if got := judged.Contested(); len(got) != 0 || len(judged.Versions) != 3 {
		t.Errorf("contested %v of %v, want none after an edit that knew of both", got, judged.Versions)
	}
	if judged.Merge(first); len(judged.Contested()) != 0 {
		t.Error("an old state contests again what was judged")
	}
	if first.Fields["hide"].Value != "hidden" || first.TimesSeen() != 3 {
		t.Errorf("got %+v", first)
	}
	first.Merge(&Shared{Kind: "observation", Key: "k", Gone: true})
	first.Merge(b)
	if diff := cmp.Diff(&Shared{Kind: "observation", Key: "k", Gone: true}, first); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
}
