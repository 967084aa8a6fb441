package toolcall

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

var (
	// mcpPrefixes begin the names of tools of MCP servers, mcpTools read what servers hold.
	mcpPrefixes = []string{"mcp_", "mcp:"}
	mcpTools    = text.Set("listmcpresourcestool readmcpresourcetool")
	// noteTools keep the agent's own notes and plans.
	noteTools = text.Set("todowrite todoread exitplanmode enterplanmode taskcreate taskupdate taskget tasklist write_todos update_plan skill slashcommand")
	// thirdParty are the names of directories with packages of others.
	thirdParty = text.Set("node_modules bower_components jspm_packages vendor third_party third-party thirdparty site-packages dist-packages .venv venv virtualenv .tox .nox __pypackages__ .cargo .gradle .m2 .bundle .yarn .pnpm-store pods carthage .terraform elm-stuff .stack-work")
	// valueOptionsOfFetchers have a value that is no address.
	valueOptionsOfFetchers = text.Set("-o --output -O --output-document -d --data --data-raw --data-binary --data-urlencode -H --header -X --request -u --user -A --user-agent -F --form -b --cookie -c --cookie-jar -w --write-out -m --max-time --connect-timeout --retry --cacert --cert --key --unix-socket")
	// outputOptions are followed by the name of a file that is written, notShown, of programs
	// that search, by what is no file that is shown.
	outputOptions = text.Set("-o --output -out --out -O --output-document --output-file -coverprofile")
	notShown      = text.Set("--exclude --exclude-dir --exclude-from --ignore --ignore-file -g --glob -e -f --regexp --file --expression")
	// dirOptions are followed by the directory that a program works in.
	dirOptions = text.Set("-C --work-tree --git-dir --prefix --cwd")
	// tellsItself are arguments that ask a program about itself.
	tellsItself = text.Set("--version -V -v version --help -h help")
	// showsHere are programs that show the directory they are in unless they are given another place,
	// those that search also behind a pipe, as nothing here tells that there is one.
	showsHere = text.Set("ls find tree dir fd rg ag ack")
	// recursive are the options of grep that have it look into directories.
	recursive = []argumentRule{{argument: "--recursive"}, {argument: "r", short: true}, {argument: "R", short: true}}
	// writeLast are programs whose last operand is written.
	writeLast = text.Set("cp mv ln install copy xcopy scp rsync aws gsutil rclone")
	// enters are verbs of git that change the files that it tracks.
	enters = text.Set("checkout switch merge pull reset restore cherry-pick rebase apply am")
)

// maxNamed bounds the paths of a command that are compared with the project. What a command
// that names more shows is unknown.
const maxNamed = 200

// Source is one thing that a call showed: a file, or what a command printed.
type Source struct {
	// From says who could have written it, as far as the words of the call tell. Of
	// FromProject and less trusted ones the marks of Places and Refs decide too.
	From memory.Provenance
	// Places are files and directories that it shows, relative to the event's directory, as
	// they were written: one may be a pattern of a shell or begin with "$". Loose: only those count that are known to be another's.
	Places []string
	Loose  bool
	// Dirs are the directories that it was run in, "" is the event's, of a command that says
	// nothing without one.
	Dirs []string
	// Words: Places are words of a command line, of which some may be no paths.
	Words bool
	// Program is a file of the project that was run, Refs are revisions of git.
	Program string
	Refs    []string
	// Writes are the files and directories that were written with it, NewRefs the branches.
	// Own: their text is in the call, so it is the agent's.
	Writes, NewRefs []string
	Own             bool
	// Enters: it was brought into the files that git tracks.
	Enters bool
	// Agent is the run of a subagent that reports.
	Agent string
	// Lists: it names the file of each line that it shows.
	Lists bool
}

// Sources returns what the call showed, in order; at least one. A call of ParseInput will do: of the
// response only a subagent's id and the answers of a dialog are looked at, in the event. A failed
// edit wrote nothing.
func (c *Call) Sources() []Source {
	name := text.LowerASCII(c.event.ToolName)
	one := func(p memory.Provenance, places ...string) []Source { return []Source{{From: p, Places: places}} }
	switch {
	case slices.ContainsFunc(mcpPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) || mcpTools[name]:
		return one(memory.FromMCP)
	case noteTools[name]:
		return one(memory.FromAgent)
	}
	switch c.Tool {
	case ToolWeb:
		return one(memory.FromWeb)
	case ToolAgent:
		var out struct {
			AgentID string `json:"agentId"`
		}
		_ = json.Unmarshal(c.event.ToolResponse, &out)
		return []Source{{From: memory.FromAgent, Agent: cmp.Or(out.AgentID, c.event.AgentID)}}
	case ToolQuestion:
		return one(fromDialog(questions(c.event.ToolInput, c.event.ToolResponse)))
	case ToolRead, ToolEdit:
		if c.File == "" {
			return one(memory.FromUnknown)
		}
		if c.Tool == ToolRead {
			return one(memory.FromProject, c.File)
		}
		s := Source{From: memory.FromProject, Places: []string{c.File}, Own: c.in.Content != nil}
		for _, f := range parsePatch(c.in.command()) {
			s.Places = text.Add(s.Places, f.Path)
		}
		if !c.Failed {
			s.Writes = s.Places
		}
		return []Source{s}
	case ToolSearch:
		places := []string{c.in.file()} // "" is the event's directory
		if dir := beforePattern(c.in.Pattern); absolute(slashed(dir)) {
			places = append(places, dir)
		}
		return []Source{{From: memory.FromProject, Places: places, Lists: true}}
	case ToolCommand:
		var list []Source
		if len(c.Line) > maxLine || len(c.Commands) == 0 || len(c.Commands) >= maxCommands {
			list = one(memory.FromUnknown)
		}
		return appendSources(list, c.Commands)
	}
	return one(memory.FromUnknown)
}

// fromDialog returns who wrote the words of a dialog's answers: the agent, if one of them is an
// option that it offered, and if none could be read; else the user.
func fromDialog(answered []Question) memory.Provenance {
	if len(answered) == 0 || slices.ContainsFunc(answered, func(q Question) bool {
		return slices.ContainsFunc(q.Options, func(o Option) bool { return o.Chosen })
	}) {
		return memory.FromAgent
	}
	return memory.FromUser
}

// appendSources adds what commands show, those within them first.
func appendSources(list []Source, commands []Command) []Source {
	for i := range commands {
		list = append(appendSources(list, commands[i].Inner), commands[i].source())
	}
	return list
}

// source returns what the command shows and writes, as far as its words tell; nothing is looked at
// on the disk. Paths are joined with Dir. A command with more than maxNamed paths, or of a line that
// did not parse, shows something unknown.
func (c *Command) source() Source {
	s := Source{From: memory.FromProject, Writes: slices.Clone(c.Writes), Places: slices.Clone(c.Reads), Words: true}
	name := text.LowerASCII(c.Program())
	shows, script := c.shows()
	operands := c.readFiles(&s, shows)
	if last := len(operands) - 1; writeLast[name] && last > 0 {
		s.Writes, operands = append(s.Writes, operands[last]), operands[:last]
	}
	switch shows {
	case showsWords:
		s.From = memory.FromAgent
		switch name {
		case "cd", "pushd", "popd":
			if to := c.Words[len(c.Words)-1]; len(c.Words) == 1 || to == "-" || strings.HasPrefix(to, "$") && !strings.Contains(to, "pwd)") && !strings.Contains(to, "PWD") && !strings.Contains(to, "--show-toplevel") {
				s.From = memory.FromUnknown // where the commands after it are
			}
		case "tee":
			s.Writes = append(s.Writes, operands...)
		}
	case showsFiles, showsMatch:
		s.Places = append(s.Places, operands...)
		if here := showsHere[name] || name == "grep" && slices.ContainsFunc(recursive, func(r argumentRule) bool { return slices.ContainsFunc(c.Words, r.matches) }); len(s.Places) == 0 && here {
			s.Places, operands = []string{""}, []string{""}
		} else if len(s.Places) == 0 {
			s.From = memory.FromAgent // it shows what it reads from a pipe
		}
		s.Lists = shows == showsMatch && len(operands) > 0 && !c.has("-h", "--no-filename")
	case showsTree:
		s.Program, s.Loose = script, true
		s.Places = append(s.Places, collect.Keep(operands, func(w string) bool { return strings.ContainsAny(w, "./") })...)
		if hasPage(c.Words[1:], c.Env...) {
			s.From = memory.FromWeb
		}
	case showsGit:
		c.git(&s)
	case showsData:
		s.From = memory.FromOutside
	case showsWeb:
		if s.From = memory.FromWeb; c.asksThisMachine() {
			s.From = memory.FromOutside
		}
		for i, w := range c.Words[1:] { // wget, curl -O, git clone
			switch {
			case strings.HasPrefix(w, "-"):
			case strings.Contains(w, "://"), name == "git" && strings.Contains(w, ":"):
				s.Writes = append(s.Writes, strings.TrimSuffix(text.AfterLast(strings.TrimRight(w, "/"), "/"), ".git"))
			case name == "git" && i > 0:
				s.Writes = append(s.Writes, w)
			}
		}
	default:
		s.Loose = true
		if s.From = memory.FromUnknown; hasPage(c.Words, append(c.Env, c.Stdin)...) {
			s.From = memory.FromWeb
		}
		if shows == showsRun {
			s.From = memory.LeastTrusted(s.From, c.runs())
		}
	}
	s.Enters = name == "patch" || name == "git" && enters[c.Verb()] || (name == "gh" || name == "glab") && c.has("checkout")
	if len(s.Places) > maxNamed || c.Unparsed {
		s.From, s.Places = memory.LeastTrusted(s.From, memory.FromUnknown), nil
	}
	if shows == showsTree || shows == showsGit {
		for i := 1; i < len(c.Words); i++ {
			if dirOptions[c.Words[i-1]] {
				s.Dirs = append(s.Dirs, c.Words[i])
			}
		}
		if len(s.Dirs) == 0 {
			s.Dirs = []string{""}
		}
	}
	if c.Dir != "" {
		for _, list := range [][]string{s.Places, s.Writes, s.Dirs} {
			for i, place := range list {
				list[i] = inDir(c.Dir, place)
			}
		}
		if s.Program != "" {
			s.Program = inDir(c.Dir, s.Program)
		}
		if shows == showsFiles || shows == showsMatch {
			s.Dirs = []string{c.Dir}
		}
	}
	return s
}

// inDir returns a path that was written in dir; one that only the shell knows stays.
func inDir(dir, place string) string {
	if absolute(slashed(place)) || strings.HasPrefix(place, "~") || strings.HasPrefix(place, "$") || strings.HasPrefix(place, "`") {
		return place
	}
	return strings.TrimSuffix(dir+"/"+place, "/")
}

// runs returns the least trusted provenance of the programs that the command's arguments
// name, for one that runs another in a place of its own (docker, ssh); FromUnknown for none.
func (c *Command) runs() memory.Provenance {
	p := memory.FromUnknown
	for _, w := range strings.Fields(strings.Join(c.Words[1:], " ")) {
		if inner := programs()[baseName(strings.Trim(w, `"'`))]; inner != nil {
			switch inner.shows {
			case showsWeb:
				p = memory.FromWeb
			case showsData:
				p = memory.LeastTrusted(p, memory.FromOutside)
			}
		}
	}
	return p
}

// git fills in what a command of git shows: the history of revisions, and files. A word may be
// either, so that it becomes both a ref and a place, which is why the source is Loose. In
// "REVISION:FILE" both count, of "A..B" the revision B.
func (c *Command) git(s *Source) {
	verb := c.verbIndex()
	s.Loose = c.Verb() != "diff" || !c.has("--no-index")
	if verb == 0 {
		return
	}
	if c.Verb() == "remote" || c.Verb() == "push" || c.Verb() == "fetch" || c.Verb() == "pull" {
		s.From = memory.FromUnknown // what the user's own server says
	}
	for i, w := range (&Command{Words: c.Words[verb:]}).readFiles(s, showsGit) { // the verb in the program's place
		from, to, isPair := strings.Cut(w, ":")
		if fetched.MatchString(w) {
			s.From = memory.FromOutside
		}
		switch c.Verb() {
		case "fetch", "pull":
			if i == 0 && w != "origin" && w != "upstream" {
				s.From = memory.FromOutside // of another remote
			}
			if isPair {
				s.NewRefs = append(s.NewRefs, text.AfterLast(to, "/"))
			}
			continue
		case "checkout", "switch", "branch", "worktree", "tag":
			if w != "main" && w != "master" && w != "HEAD" {
				s.NewRefs = append(s.NewRefs, w)
			}
		}
		if isPair && to != "" {
			s.Places = append(s.Places, to)
		}
		if j := strings.LastIndex(from, ".."); j >= 0 {
			from = strings.TrimLeft(from[j:], ".")
		}
		s.Refs, s.Places = append(s.Refs, from), append(s.Places, w)
	}
	if (c.Verb() == "fetch" || c.Verb() == "pull") && hasPage(c.Words) {
		s.From = memory.FromWeb
	}
}

// fetched matches revisions that a fetch has left, and those of requests to merge.
var fetched = regexp.MustCompile(`\bFETCH_HEAD\b|\brefs/(?:pull|merge-requests|changes|pull-requests)/|^\+?(?:pull|merge-requests|changes)/\d`)

// readFiles returns the words of the command that may name a file that it reads, and adds the
// files that options say it writes to s. shows is what the command prints: of a program that
// searches (showsMatch) the first operand is a pattern, unless an option has it.
func (c *Command) readFiles(s *Source, shows string) []string {
	var list []string
	name := text.LowerASCII(c.Program())
	match := shows == showsMatch
	isPattern := match && !c.has("-e", "-f", "--regexp", "--file", "--expression", "--files")
	for i := 1; i < len(c.Words); i++ {
		w := c.Words[i]
		option, value, joined := strings.Cut(w, "=")
		isOption := len(w) > 1 && w[0] == '-'
		// Of programs that show files -o means something else, but for sort; -O has a value of wget's alone.
		writes := isOption && outputOptions[option] && (shows != showsFiles && !match || name == "sort") && (option != "-O" || name == "wget")
		switch {
		case writes && joined:
			s.Writes = append(s.Writes, value)
		case writes || isOption && (match && notShown[w] || w == "-I" && (name == "tree" || name == "ls")):
			if i++; writes && i < len(c.Words) {
				s.Writes = append(s.Writes, c.Words[i])
			}
		case isOption && name == "find": // the rest is its expression
			return list
		case isOption && (!joined || // of those with "=" some have a pattern
			strings.HasPrefix(w, "--ex") || strings.HasPrefix(w, "--inc") || strings.HasPrefix(w, "--ignore")):
		case isPattern && !isOption:
			isPattern = false
		default:
			if isOption {
				w = value
			}
			if w = strings.TrimPrefix(w, "@"); isPlace(w) { // curl -d @file
				list = append(list, w)
			}
		}
	}
	return list
}

// isDevice reports whether a path is of a device; below /dev/shm there are files.
func isDevice(path string) bool {
	return strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/shm/")
}

// isPlace reports whether a word can be the path of a file.
func isPlace(w string) bool {
	return strings.Trim(w, "/+-0123456789") != "" && len(w) <= maxPlace && !strings.ContainsAny(w, "\n\x00") && !strings.Contains(w, "://") && !isDevice(w)
}

// maxPlace bounds a path that is compared, in bytes.
const maxPlace = 1 << 10

// shows returns what the command prints, one of the constants below or "" if that is not known, and
// with showsTree the file of the project that it runs, relative to the command's directory, if it
// names one.
func (c *Command) shows() (shows, script string) {
	if len(c.Words) == 0 {
		return showsWords, ""
	}
	name := c.Program()
	p := cmp.Or(programs()[name], programs()[text.LowerASCII(name)])
	if own := slashed(c.Words[0]); strings.Contains(own, "/") && !absolute(own) && own[0] != '~' && own[0] != '$' && (p == nil || !ThirdParty(own)) {
		return showsTree, own
	}
	if p == nil {
		switch {
		case c.fetched:
			return showsWeb, ""
		case c.wrapped || absolute(slashed(c.Words[0])):
			return showsRun, "" // its arguments may say which program prints
		}
		return "", ""
	}
	if len(c.Words) == 2 && tellsItself[c.Words[1]] {
		return showsWords, ""
	}
	verb := c.verbIndex()
	for _, r := range p.showsBy {
		if r.anywhere && slices.ContainsFunc(c.Words[1:], r.matches) || !r.anywhere && verb > 0 && r.argument == c.Words[verb] {
			return r.shows, ""
		}
	}
	kind, _ := c.kind()
	if p.verbs == verbOfScript {
		if module := c.module(); module != nil {
			return (&Command{Words: module}).shows()
		}
		// The verb of a check may be no file (deno test).
		if kind == KindRun || kind.IsProof() && verb > 0 && strings.Contains(c.Words[verb], ".") {
			if verb == 0 {
				return "", ""
			}
			return showsTree, c.Words[verb]
		}
	}
	if p.shows != "" {
		return p.shows, ""
	}
	return showsByKind[kind], ""
}

// What a program prints, as programs.txt says it; "" is not known.
const (
	showsWords = "words" // its own, those of its arguments, or what it reads from a pipe
	showsFiles = "files" // the files that it names
	showsMatch = "match" // parts of them; its first operand says which
	showsTree  = "tree"  // what it does with the project, unless it names an address
	showsGit   = "git"   // the local history
	showsData  = "data"  // data of other programs and their users
	showsWeb   = "web"   // pages, packages, what servers of others answer
	showsRun   = "run"   // what a program among its arguments prints elsewhere
)

// showsByKind is for programs of which the table says nothing else.
var showsByKind = map[Kind]string{KindLook: showsFiles, KindTest: showsTree, KindBuild: showsTree, KindLint: showsTree, KindRun: showsTree, KindFormat: showsTree,
	KindInstall: showsWeb, KindCommit: showsGit, KindGit: showsGit, KindMove: showsWords, KindDelete: showsWords, KindWrite: showsWords}

// ThirdParty reports whether a path relative to the project leads through a directory with
// packages of others.
func ThirdParty(rel string) bool {
	return slices.ContainsFunc(strings.Split(text.LowerASCII(slashed(rel)), "/"), func(part string) bool { return thirdParty[part] })
}

// asksThisMachine reports whether all addresses of a command that fetches are those of
// this machine; false without any.
func (c *Command) asksThisMachine() bool {
	found := false
	for _, w := range c.arguments(1, valueOptionsOfFetchers) {
		switch {
		case isLocal(w):
			found = true
		case strings.Contains(w, ".") || strings.Contains(w, "://") || strings.Contains(w, "$"):
			return false
		}
	}
	return found
}

// isLocal reports whether an address, a URL or HOST:PORT, is one of this machine by its text: no
// name is looked up. A URL without a host (file:///x) is.
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
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "" && (u.Port() != "" || u.Scheme != "http") ||
		err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// pages matches the addresses of pages and of other machines in a text, versioned matches a
// package with its version.
var (
	pages     = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]+://[^\s'"` + "`" + `)<>\\]+|^[\w.-]+::\w|^[\w.-]+@[\w.-]+:`)
	versioned = regexp.MustCompile(`^[\w-]+(?:\.[\w-]+)+/\S*@\S+$`)
)

// maxPages bounds the addresses that are looked at in one text.
const maxPages = 20

// hasPage reports whether a word, or one of more, has the address of another machine in it.
// Addresses of proxies and registries do not count.
func hasPage(words []string, more ...string) bool {
	return slices.ContainsFunc(append(slices.Clone(words), more...), func(w string) bool {
		if name := text.LowerASCII(text.Before(w, "=")); name != w && text.ContainsAny(name, "proxy", "registry", "index_url", "index-url") {
			return false
		}
		return versioned.MatchString(w) || slices.ContainsFunc(pages.FindAllString(w, maxPages), func(address string) bool { return !isLocal(address) })
	})
}

// beforePattern returns the directory in front of the first part of a pattern with a
// wildcard, with "/" at its end, "" without one; all of a word without a wildcard.
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
