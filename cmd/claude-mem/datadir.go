package main

import (
	"claudemem"
	"claudemem/settings"
)

// dataDir returns the absolute path of the data directory; it may not exist yet.
func (a *app) dataDir() (string, error) {
	dir := settings.DataDir(a.getenv)
	if dir == "" {
		return "", claudemem.Errorf(claudemem.CodeInvalid, "there is no home directory").
			WithHint("set " + settings.DataDirKey + " to the directory of the memory")
	}
	return dir, nil
}
