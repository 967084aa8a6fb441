package assign

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
)

const (
	// manifestReach is the maximum distance of "kind: Secret" from "data:",
	// manifestData the length of the data that is searched, manifestGap the maximum
	// distance between two values, in bytes.
	manifestReach = 2048
	manifestData  = 8 << 10
	manifestGap   = 128
	// minManifest is the length of the shortest value, in bytes.
	minManifest = 10
	// ruleManifest names a value of a Secret of Kubernetes.
	ruleManifest = "kubernetes-secret"
)

// wordBefore returns the name that ends before end, over blanks and quotes, as nameBefore does, but
// without the letter of an escape (\nkind).
func wordBefore(s string, end int) string {
	start, name := nameBefore(s, end)
	if start > 0 && s[start-1] == '\\' && name != "" {
		return name[1:]
	}
	return name
}

// hasSecretKind reports whether a manifest says "kind: Secret".
func hasSecretKind(s string) bool {
	for at := 0; ; {
		n := strings.IndexByte(s[at:], ':')
		if n < 0 {
			return false
		}
		colon := at + n
		at = colon + 1
		if strings.EqualFold(wordBefore(s, colon), "kind") && strings.EqualFold(shapes.WordAt(s, at), "secret") {
			return true
		}
	}
}
