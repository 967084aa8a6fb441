//go:build !windows

package main

import "os"

// takesColor: what is a terminal here understands colours; TERM says where not.
func takesColor(*os.File) bool { return true }
