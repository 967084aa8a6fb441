package text

import (
	"regexp"
	"strings"
)

// trailer is a line of a commit message that names a person, a review or a number:
// Reviewed-by, Signed-off-by, Reviewed-on, Reported-at, Change-Id, Made-with. Of other
// words with a hyphen the last part tells them from a subject ("OVS-DPDK: change …").
var trailer = regexp.MustCompile(`(?i)^(?:cc|[a-z]+(?:-[a-z]+)*-(?:by|at|on|id|with|from|url|link|session|signature)): *\S`)

// IsTrailer reports whether a line of a commit message is a trailer: it says who and where,
// and nothing of the change.
func IsTrailer(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "🤖") || trailer.MatchString(line)
}
