package pages

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// least is the size of a large page on most processors: to advise less changes nothing.
const least = 2 << 20

// advise asks for large pages for the memory of list, before it is used.
func advise[T any](list []T) {
	size := uintptr(len(list)) * unsafe.Sizeof(*new(T))
	if size < least {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), size)
	page := uintptr(os.Getpagesize())
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) % page
	bytes = bytes[skip : skip+(size-skip)/page*page]
	_ = unix.Madvise(bytes, unix.MADV_HUGEPAGE) // without it, it takes longer
}
