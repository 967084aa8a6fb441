package repo

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Remote returns the identity that a directory in a repository has on all machines by the address of a
// remote: "host/path", with the directory's path below the root behind "//" unless it is the root; "" if
// there is no remote that other machines can have. The remote is "origin", else the first by name.
func Remote(dir string) string {
	w, found := findWorktree(absolute(dir), worktree{})
	if !found {
		return ""
	}
	common, _ := w.commonDir()
	remotes := remotesOf(readLimited(filepath.Join(common, "config"), maxConfig))
	for _, name := range append([]string{"origin"}, slices.Sorted(maps.Keys(remotes))...) {
		if address := NormalRemote(remotes[name]); address != "" {
			return address + Below(dir)
		}
	}
	return ""
}

// Below returns "//" and the path of a directory below the root of its worktree, "" for the root and outside.
func Below(dir string) string {
	w, found := findWorktree(absolute(dir), worktree{})
	if !found {
		return ""
	}
	rel, ok := below(filepath.ToSlash(Resolve(w.root)), filepath.ToSlash(Resolve(absolute(dir))), false)
	if !ok || rel == "." {
		return ""
	}
	return "//" + rel
}

// remotesOf returns the first address of each remote in a git config. Includes are not followed.
func remotesOf(config string) map[string]string {
	remotes, section := map[string]string{}, ""
	for line := range strings.SplitSeq(config, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, quoted := strings.CutPrefix(line, `[remote "`)
			section = ""
			if name, ended := strings.CutSuffix(name, `"]`); quoted && ended {
				section = name
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && section != "" && remotes[section] == "" && strings.EqualFold(strings.TrimSpace(key), "url") {
			remotes[section] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return remotes
}

// NormalRemote returns the host and path of a remote's address: ssh and https, with and without a user,
// port and ".git", are the same; "" for one that names a place on this machine, or none.
func NormalRemote(address string) string {
	scheme, rest, isURL := strings.Cut(address, "://")
	if !isURL { // host:path, as of ssh
		host, file, ok := strings.Cut(address, ":")
		if !ok || strings.ContainsAny(host, `/\`) || len(host) < 2 { // a path, or a drive of Windows
			return ""
		}
		scheme, rest = "ssh", host+"/"+strings.TrimPrefix(file, "/")
	}
	if strings.EqualFold(scheme, "file") {
		return ""
	}
	host, file, ok := strings.Cut(rest, "/")
	host = strings.ToLower(host[strings.LastIndexByte(host, '@')+1:])
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	file, _, _ = strings.Cut(file, "?")
	file = strings.TrimPrefix(path.Clean("/"+strings.TrimSuffix(strings.TrimRight(file, "/"), ".git")), "/")
	if !ok || host == "" || file == "" || host == "localhost" {
		return ""
	}
	// The large hosts regard no letter case in names of people and projects.
	return host + "/" + strings.ToLower(file)
}
