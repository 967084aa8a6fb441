package records

import (
	"reflect"
	"slices"
	"testing"
)

// TestDeclared checks that each field of a record and of its portable form is declared, but for
// those that are in other tables or nowhere.
func TestDeclared(t *testing.T) {
	checkDeclared(t, SessionRecord)
	checkDeclared(t, PromptRecord, "Prompt.Damaged")
	checkDeclared(t, ObservationRecord, "Observation.Files", "Observation.Supersedes", "Observation.Damaged", "PortableObservation.AskedID")
	checkDeclared(t, SummaryRecord, "Summary.Damaged")
	checkDeclared(t, LearningRecord, "Learning.Damaged")
	checkDeclared(t, SymbolRecord)
}

func checkDeclared[R, P any](t *testing.T, r *record[R, P], elsewhere ...string) {
	own, portable := new(R), new(P)
	for _, c := range []struct {
		of     reflect.Value
		places []any
	}{{reflect.ValueOf(own).Elem(), r.fields(own)}, {reflect.ValueOf(portable).Elem(), r.Places(portable)}} {
		if change := c.of.FieldByName("SymbolChange"); change.IsValid() {
			c.of = change
		}
		for i := range c.of.NumField() {
			name, place := c.of.Type().Name()+"."+c.of.Type().Field(i).Name, c.of.Field(i).Addr().UnsafePointer()
			declared := slices.ContainsFunc(c.places, func(p any) bool {
				v := reflect.ValueOf(p)
				for v.Kind() == reflect.Struct {
					v = v.Field(0)
				}
				return v.UnsafePointer() == place
			})
			if !declared && !slices.Contains(elsewhere, name) {
				t.Errorf("%s is not declared", name)
			}
		}
	}
}
