//go:build !amd64

package embed

// fastDot says that dot is faster than dotBoth, which makes two products of one multiplication.
const fastDot = false

func dot(a, b string) int32 { return dotInGo(a, b) }
