package rank

import "testing"

func TestCombine(t *testing.T) {
	for name, tt := range map[string]struct {
		share, likeness, maxSim float64
		prompt                  bool
		want                    float64
	}{
		"all of it":                        {1, 1, 1, false, 2.5},
		"words only":                       {0.4, 0, 0, false, 0.4},
		"the opposite is not less alike":   {0.4, -0.9, 0, false, 0.4},
		"a prompt's likeness counts less":  {0.5, 0.5, 0.5, true, 1.05},
		"another record's counts in whole": {0.5, 0.5, 0.5, false, 1.25},
	} {
		if got := Combine(tt.share, tt.likeness, tt.maxSim, tt.prompt); !near(got, tt.want) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}
