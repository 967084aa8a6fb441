package toolcall

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"claudemem"
	"claudemem/text"
)

// mcpPrefix begins the names of tools of MCP servers.
const mcpPrefix = "mcp__"

var (
	// mcpTools read what MCP servers hold.
	mcpTools = text.Set("listmcpresourcestool readmcpresourcetool")
	// noteTools keep the agent's own notes and plans.
	noteTools = text.Set("todowrite todoread exitplanmode enterplanmode taskcreate taskupdate taskget tasklist write_todos update_plan skill slashcommand")
	// fetchers are programs that get pages and files from the web.
	fetchers = text.Set("curl wget http https httpie xh aria2c lynx w3m elinks gh glab iwr irm invoke-webrequest invoke-restmethod")
	// localVerbs are those of gh and glab that ask no server.
	localVerbs = text.Set("auth config alias completion version help")
	// remotes are programs that work on another machine.
	remotes = text.Set("ssh scp sftp mosh")
	// showNothing are programs that show nothing of the files that they name.
	showNothing = text.Set("tee cd pushd popd mkdir rmdir touch rm chmod chown kill pkill export unset which whereis type echo printf test [ [[ true false sleep")
	// valueOptionsOfFetchers have a value that is no address.
	valueOptionsOfFetchers = text.Set("-o --output -O -d --data --data-raw --data-binary --data-urlencode -H --header -X --request -u --user -A --user-agent -F --form -b --cookie -c --cookie-jar -w --write-out -m --max-time --connect-timeout --retry --cacert --cert --key --unix-socket")
	// outputOptions are followed by the name of a file that is written.
	outputOptions = text.Set("-o --output --out -out")
)

// maxNamed bounds the paths of a call that are compared with the project. A call that
// names more is not judged.
const maxNamed = 200

// Provenance returns who could have written what a call showed. For FromProject it holds
// only if all places, files and directories relative to the event's directory, belong to
// the project. It needs nothing but the event.
func (c *Call) Provenance() (p claudemem.Provenance, places []string) {
	name := text.LowerASCII(c.event.ToolName)
	switch {
	case strings.HasPrefix(name, mcpPrefix) || mcpTools[name]:
		return claudemem.FromMCP, nil
	case noteTools[name]:
		return claudemem.FromAgent, nil
	}
	switch c.Tool {
	case ToolWeb:
		return claudemem.FromWeb, nil
	case ToolAgent:
		return claudemem.FromAgent, nil
	case ToolQuestion:
		if len(questions(c.event.ToolInput, c.event.ToolResponse)) == 0 {
			return claudemem.FromAgent, nil
		}
		return claudemem.FromUser, nil
	case ToolRead, ToolEdit:
		return claudemem.FromProject, []string{c.File}
	case ToolSearch:
		var in input
		_ = json.Unmarshal(c.event.ToolInput, &in) // a field of a wrong type leaves the others filled
		places = []string{in.file()}
		if dir := beforePattern(in.Pattern); absolute(slashed(dir)) {
			places = append(places, dir)
		}
		return claudemem.FromProject, places
	case ToolCommand:
		return provenanceOf(c.Commands)
	}
	return claudemem.FromOutside, nil
}

// provenanceOf returns the provenance of what commands print, and the places that it
// depends on; see Call.Provenance.
func provenanceOf(commands []Command) (claudemem.Provenance, []string) {
	p, places := claudemem.FromProject, []string(nil)
	for i := range commands {
		c := &commands[i]
		inner, more := provenanceOf(c.Inner)
		p = claudemem.LeastTrusted(p, inner, c.provenance())
		if places = text.Add(text.Add(places, more...), c.places()...); len(places) > maxNamed {
			p, places = claudemem.LeastTrusted(p, claudemem.FromOutside), nil
		}
	}
	return p, places
}

// provenance returns the provenance of what the command prints, whatever files it names.
func (c *Command) provenance() claudemem.Provenance {
	name := text.LowerASCII(c.Program())
	switch {
	case (name == "gh" || name == "glab") && (c.Verb() == "" || localVerbs[c.Verb()]):
		return claudemem.FromProject
	case fetchers[name] && !c.asksThisMachine(), c.Kind == KindInline && c.namesPage():
		return claudemem.FromWeb
	case remotes[name]:
		return claudemem.FromOutside
	}
	return claudemem.FromProject
}

// asksThisMachine reports whether all addresses of a command that fetches are those of
// this machine.
func (c *Command) asksThisMachine() bool {
	found := false
	for i := 1; i < len(c.Words); i++ {
		switch w := c.Words[i]; {
		case valueOptionsOfFetchers[w]:
			i++
		case strings.HasPrefix(w, "-"):
		case isLocal(w):
			found = true
		case strings.Contains(w, ".") || strings.Contains(w, "://") || strings.Contains(w, "$"):
			return false
		}
	}
	return found
}

// isLocal reports whether an address is one of this machine.
func isLocal(address string) bool {
	if i := strings.IndexByte(address, '$'); i > 0 && (address[i-1] == ':' || address[i-1] == '/') {
		address = address[:i-1] // localhost:$PORT
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "" && u.Port() != "" ||
		err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// pages matches the addresses of pages in a program's text.
var pages = regexp.MustCompile(`(?i)\bhttps?://[^\s'"` + "`" + `)<>\\]+`)

// namesPage reports whether a throw-away program has the address of another machine in it.
func (c *Command) namesPage() bool {
	return slices.ContainsFunc(append(c.Words[min(1, len(c.Words)):len(c.Words):len(c.Words)], c.Stdin), func(w string) bool {
		return slices.ContainsFunc(pages.FindAllString(w, maxPages), func(address string) bool { return !isLocal(address) })
	})
}

// maxPages bounds the addresses that are looked at in one text.
const maxPages = 20

// places returns the files and directories that a command names, relative to the event's
// directory: its own directory, and its arguments if it shows something of them. Words that
// are no paths are among them; taken for one, they lie in the project. One that begins with
// "$" is as it was written.
func (c *Command) places() []string {
	var list []string
	if c.Dir != "" {
		list = append(list, c.Dir)
	}
	if showNothing[c.Program()] || fetchers[text.LowerASCII(c.Program())] {
		return list
	}
	for i := 1; i < len(c.Words) && len(list) <= maxNamed; i++ {
		w := c.Words[i]
		if outputOptions[w] {
			i++
			continue
		}
		if strings.HasPrefix(w, "-") {
			_, w, _ = strings.Cut(w, "=")
		}
		if strings.HasPrefix(w, "$") && (strings.HasSuffix(w, ")") || !strings.Contains(w, "/") && !c.Kind.IsQuiet()) {
			continue // what another command prints, or any value
		}
		dir := beforePattern(w)
		if dir == "" || len(dir) > maxPlace || strings.ContainsAny(dir, "\n\x00") || strings.Contains(dir, "://") || strings.HasPrefix(dir, "/dev/") {
			continue
		}
		if c.Dir != "" && !absolute(slashed(dir)) && dir[0] != '~' && dir[0] != '$' {
			dir = c.Dir + "/" + dir
		}
		list = append(list, dir)
	}
	return list
}

// maxPlace bounds a path that is compared, in bytes.
const maxPlace = 1 << 10

// beforePattern returns the directory in front of the first part of a pattern with a
// wildcard, all of a word without one.
func beforePattern(w string) string {
	i := strings.IndexAny(w, "*?[{")
	if i > 0 && w[i] == '{' && w[i-1] == '$' { // ${name}
		i = -1
	}
	if i < 0 {
		return w
	}
	return w[:strings.LastIndexByte(w[:i], '/')+1]
}
