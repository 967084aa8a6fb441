//go:build !amd64

package vectors

func markWithin(marks, codes []uint64, code [2]uint64, limit uint32) {
	markWithinInGo(marks, codes, code, limit)
}
