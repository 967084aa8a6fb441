package procgroup

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// Environ returns the entries of this process's environment with the given names, for a program that is to have no others.
// On Windows, which does not tell cases apart, names are in upper case, and those that programs there cannot do without are added.
func Environ(names ...string) (env []string) {
	windows := runtime.GOOS == "windows"
	if windows {
		names = append(slices.Clone(names), "SYSTEMROOT", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "TEMP", "TMP")
	}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if windows {
			name = strings.ToUpper(name)
		}
		if slices.Contains(names, name) {
			env = append(env, entry)
		}
	}
	return env
}
