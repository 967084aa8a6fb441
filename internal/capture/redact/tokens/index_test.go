package tokens

import (
	"strings"
	"testing"
)

// TestIndex shows that each prefix of Kinds is found at one of Stops, and each name by its first two bytes.
func TestIndex(t *testing.T) {
	found := func(x *index, key int, third byte, want indexEntry) bool {
		for n := x.heads[key]; n != 0; n = x.entries[n-1].next {
			e := x.entries[n-1]
			e.next = 0
			if e == want {
				return x.thirds[key]>>(third&31)&1 != 0
			}
		}
		return false
	}
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
		for _, prefix := range strings.Split(k.Prefixes, separator) {
			if prefix == "" {
				continue
			}
			words++
			stopped := false
			for at := 1; at < len(prefix) && !stopped; at++ {
				if Stops[prefix[at]]>>(prefix[at-1]&31)&1 != 0 {
					third := byte(0)
					if at > 1 {
						third = prefix[at-2]
					}
					stopped = found(&prefixes, keyOf(prefix[at-1], prefix[at]), third, indexEntry{kind: k, text: prefix, anchor: uint8(at)})
				}
			}
			if !stopped {
				t.Errorf("the prefix %q of %s is not found", prefix, k.Rule)
			}
		}
		for name := range strings.FieldsSeq(k.Names) {
			words++
			if !found(&names, keyOf(name[0], name[1]), name[2], indexEntry{kind: k, text: name}) {
				t.Errorf("the name %q of %s is not found", name, k.Rule)
			}
		}
	}
	if got := int(prefixes.n + names.n); got != words {
		t.Errorf("the indexes have %d entries, the table %d words", got, words)
	}
}
