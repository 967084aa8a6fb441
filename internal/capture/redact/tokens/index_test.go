package tokens

import (
	"strings"
	"testing"
)

// TestIndex shows that each prefix of Kinds is found at one of Stops, and each name.
func TestIndex(t *testing.T) {
	words := 0
	for i := range Kinds {
		k := &Kinds[i]
		if k.Prefixes != "" && k.Names != "" {
			t.Errorf("%s has prefixes and names", k.Rule)
		}
		if k.Flags&Near != 0 {
			continue
		}
		separator := " "
		if k.Phrase() {
			separator = "|"
		}
		for prefix := range strings.SplitSeq(k.Prefixes, separator) {
			if prefix == "" {
				continue
			}
			words++
			found := false
			for at := 1; at < len(prefix) && !found; at++ {
				if Stops[prefix[at]]>>(prefix[at-1]&31)&1 != 0 {
					for n := prefixes.first(prefix, at); n != 0 && !found; n = prefixes.entries[n-1].next {
						e := &prefixes.entries[n-1]
						found = e.value == k && e.text == prefix && int(e.anchor) == at
					}
				}
			}
			if !found {
				t.Errorf("the prefix %q of %s is not found", prefix, k.Rule)
			}
		}
		for name := range strings.FieldsSeq(k.Names) {
			words++
			if !eachVendor("x_"+strings.ToUpper(name), func(found *Kind) bool { return found == k }) {
				t.Errorf("the name %q of %s is not found", name, k.Rule)
			}
		}
	}
	if got := int(prefixes.n + names.n); got != words {
		t.Errorf("the indexes have %d entries, the table %d words", got, words)
	}
}
