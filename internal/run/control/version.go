package control

import (
	"strings"

	"golang.org/x/mod/semver"

	"claudemem/internal/serve/api"
)

// Outranks reports whether self takes over from other: if it has a newer wire version, or
// the same and a newer version. Workers of different wire versions cannot serve the same
// hooks.
func Outranks(self, other api.Identity) bool {
	if self.Wire != other.Wire {
		return self.Wire > other.Wire
	}
	return Newer(self.Version, other.Version)
}

// Newer reports whether version a is later than b in the order of semantic versions.
// A v before the numbers is allowed, and fewer than three numbers are. A version that
// does not parse, such as a bare commit hash, is older than all that do.
func Newer(a, b string) bool { return semver.Compare(semantic(a), semantic(b)) > 0 }

// semantic returns a version as package semver has it, "" for a single number, which may be a
// commit hash.
func semantic(version string) string {
	if !strings.Contains(version, ".") {
		return ""
	}
	return "v" + strings.TrimPrefix(version, "v")
}
