//go:build slow

package world

// fullCount says that the tests try as much as their acceptance asks for.
const fullCount = true
