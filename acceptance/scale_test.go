//go:build unix && !slow

package acceptance

// How much is tried: a share of what the issue asks for, with every other test.
const (
	indexKills     = 10
	tableKills     = 6
	hostileQueries = 1_000
	blockDatabases = 20
	tortureDefault = 12
)
