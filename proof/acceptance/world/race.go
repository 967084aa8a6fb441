//go:build race

package world

// RaceDetector says that the tests run with the race detector, which sees nothing of
// the processes that most of them drive: NeedBinaries skips those.
const RaceDetector = true
