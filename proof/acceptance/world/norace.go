//go:build !race

package world

// RaceDetector says that the tests run with the race detector.
const RaceDetector = false
