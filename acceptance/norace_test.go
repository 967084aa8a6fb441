//go:build !race

package acceptance

// raceDetector says that the tests run with the race detector.
const raceDetector = false
