//go:build race

package acceptance

// raceDetector says that the tests run with the race detector, which sees nothing of
// the processes that most of them drive: needBinaries skips those.
const raceDetector = true
