//go:build unix && slow

package acceptance

// How much is tried: what the issue asks for.
const (
	indexKills     = 50
	tableKills     = 50
	hostileQueries = 10_000
	tortureDefault = 1_000
	blockDatabases = 200
)
