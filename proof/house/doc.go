// Package house has the tests of the repository itself: its folders, the import table and
// the walks in ARCHITECTURE.md, the tests that docs/security.md names, the licences in
// NOTICE, that files are opened in one place, that settings are read, that comments name
// interfaces that exist, how many methods the rooms of the store have, and that docs/decisions has the large packages.
package house
