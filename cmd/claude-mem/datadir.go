package main

import (
	"strings"

	"claudemem"
	"claudemem/settings"
)

// dataDir is the absolute path of the data directory; it may not exist yet.
func (a *app) dataDir() (string, error) {
	dir := settings.DataDir(a.getenv)
	if dir == "" {
		return "", claudemem.Errorf(claudemem.CodeInvalid, "there is no home directory").
			WithHint("set " + settings.DataDirKey + " to where the memory shall be kept")
	}
	return dir, nil
}

// workerKeys are what a worker may know of the environment of whoever starts
// it: enough to find its files, nothing that configures it.
var workerKeys = map[string]bool{
	"HOME": true, "PATH": true, "TMPDIR": true, "TEMP": true, "TMP": true, "USER": true, "LOGNAME": true, "LANG": true,
	"SystemRoot": true, "APPDATA": true, "LOCALAPPDATA": true, "USERPROFILE": true,
}

// workerEnvironment is the cleaned environment of a worker (SPEC 2): one
// project's variables must not configure the worker of all projects.
func workerEnvironment(environ []string, dataDir string) []string {
	var env []string
	for _, pair := range environ {
		key, _, _ := strings.Cut(pair, "=")
		if workerKeys[key] || strings.HasPrefix(key, "XDG_") || strings.HasPrefix(key, "LC_") {
			env = append(env, pair)
		}
	}
	return append(env, settings.DataDirKey+"="+dataDir)
}
