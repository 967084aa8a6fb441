//go:build !race

package acceptance

// blockDatabases is how many databases TestBlockProperties makes.
const blockDatabases = 200
