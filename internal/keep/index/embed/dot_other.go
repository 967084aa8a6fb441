//go:build !amd64

package embed

func dot(a, b string) int32 { return dotInGo(a, b) }
