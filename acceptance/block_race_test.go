//go:build race

package acceptance

// blockDatabases is how many databases TestBlockProperties makes. The race detector
// makes SQLite, which is Go here, ten times slower; what runs beside what is the same
// in each of them.
const blockDatabases = 6
