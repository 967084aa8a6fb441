package daemon

import (
	"strconv"
	"strings"
)

// newer reports whether version a is later than b. Versions are
// major.minor.patch with an optional v before and -pre-release behind, which
// comes before its release; what does not parse is older than all that does.
func newer(a, b string) bool {
	an, apre, aok := parseVersion(a)
	bn, bpre, bok := parseVersion(b)
	if !aok || !bok {
		return aok && !bok
	}
	for i := range an {
		if an[i] != bn[i] {
			return an[i] > bn[i]
		}
	}
	switch {
	case apre == bpre:
		return false
	case apre == "":
		return true
	case bpre == "":
		return false
	}
	return apre > bpre
}

func parseVersion(s string) (numbers [3]int, pre string, ok bool) {
	s = strings.TrimPrefix(s, "v")
	s, _, _ = strings.Cut(s, "+")
	s, pre, _ = strings.Cut(s, "-")
	parts := strings.Split(s, ".")
	if len(parts) > 3 {
		return numbers, "", false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return numbers, "", false
		}
		numbers[i] = n
	}
	return numbers, pre, true
}
