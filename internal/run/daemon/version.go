package daemon

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// newer reports whether version a is later than b in the order of semantic versions.
// A v before the numbers is allowed, and fewer than three numbers are. A version that
// does not parse, such as a bare commit hash, is older than all that do.
func newer(a, b string) bool {
	an, apre, aok := parseVersion(a)
	bn, bpre, bok := parseVersion(b)
	if !aok || !bok {
		return aok && !bok
	}
	if order := slices.Compare(an[:], bn[:]); order != 0 {
		return order > 0
	}
	if apre == "" || bpre == "" {
		return apre == "" && bpre != "" // a release is later than what came before it
	}
	return slices.CompareFunc(strings.Split(apre, "."), strings.Split(bpre, "."), comparePart) > 0
}

// comparePart compares one part of a pre-release: numbers by value and before words.
func comparePart(a, b string) int {
	an, aerr := strconv.ParseUint(a, 10, 64)
	bn, berr := strconv.ParseUint(b, 10, 64)
	switch {
	case aerr == nil && berr == nil:
		return cmp.Compare(an, bn)
	case aerr == nil:
		return -1
	case berr == nil:
		return 1
	}
	return strings.Compare(a, b)
}

// parseVersion parses "1.2" or "v1.2.3-rc1+build" into its numbers and the part between
// "-" and "+". It is false for a single number, which may be a commit hash.
func parseVersion(s string) (numbers [3]int, pre string, ok bool) {
	s = strings.TrimPrefix(s, "v")
	s, _, _ = strings.Cut(s, "+")
	s, pre, _ = strings.Cut(s, "-")
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 3 { // one number may be a commit hash
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
