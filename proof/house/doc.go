// Package house has the tests of the repository itself: its folders, the import table and
// the walks in ARCHITECTURE.md, the tests that docs/security.md names, the licences in
// NOTICE, and that files are opened in one place.
package house
