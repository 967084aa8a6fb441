package samples

import (
	_ "embed"
	"strings"
)

//go:embed later.txt
var later string

//go:embed lookalikes.txt
var lookAlikes string

// Later returns the kinds that were written down after the rules were.
func Later() (kinds []Kind) {
	for _, block := range strings.Split(later, "\n== ")[1:] {
		head, form, _ := strings.Cut(block, "\n")
		k := Kind{Name: head, form: strings.TrimRight(form, "\n")}
		if name, key, found := strings.Cut(head, " = "); found {
			k.Name, k.key = name, key
		} else if name, key, found := strings.Cut(head, " ~ "); found {
			k.Name, k.key, k.needsName = name, key, true
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// LaterLookAlikes returns the forms of LookAlikes that were written down after the rules
// were.
func LaterLookAlikes() []string {
	return strings.Split(strings.TrimSuffix(lookAlikes, "\n"), "\n==\n")[1:]
}
