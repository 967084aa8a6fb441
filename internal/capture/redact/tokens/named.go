package tokens

import "claudemem/internal/capture/redact/shapes"

// minVendor is the length of the shortest token of a kind with Names, in bytes.
const minVendor = 14

// OfVendor returns the rule and the end of the token at i that a kind with one of
// its Names in name has; "" and -1 for none. Kinds that must fill a string in quotes are left to
// package rules.
func OfVendor(name, s string, i int) (rule string, end int) {
	if len(s)-i < minVendor {
		return "", -1
	}
	found := eachVendor(name, func(k *Kind) (ok bool) {
		if k.Flags&Quoted == 0 && shapes.TokenBytes(s[i:i+8]) {
			end, ok = k.MatchBody(s, i)
			ok = ok && k.RandomEnough(s[i:end])
			rule = k.Rule
		}
		return ok
	})
	if !found {
		return "", -1
	}
	return rule, end
}

// NamesVendor reports whether a name has one of the Names of Kinds.
//
//go:noinline
func NamesVendor(name string) bool { return eachVendor(name, func(*Kind) bool { return true }) }

// eachVendor calls visit with each kind that has one of its Names in name
// until visit returns true, and reports whether it has.
func eachVendor(name string, visit func(k *Kind) bool) bool {
	return len(name) <= shapes.MaxName && names.Each(name, func(k *Kind, _, _ int) bool { return visit(k) })
}
