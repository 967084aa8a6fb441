package settings

import (
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
)

// claude-mem for Node keeps all of its settings in settings.json, with the values that it
// begins with: those are nobody's choice and are not imported.

// nodeSkipTools, nodeModel and nodeProvider are values that it begins with.
const (
	nodeSkipTools = "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion"
	nodeModel     = "claude-haiku-4-5-20251001"
	nodeProvider  = ProviderClaude
)

// nodeMarks are keys that only claude-mem for Node has.
var nodeMarks = []string{"CLAUDE_MEM_PYTHON_VERSION", "CLAUDE_MEM_WORKER_HOST", "CLAUDE_MEM_CONTEXT_OBSERVATIONS", "CLAUDE_MEM_CLAUDE_AUTH_METHOD", "CLAUDE_CODE_PATH"}

// nodeNames are our names of its settings with another name.
var nodeNames = []struct{ node, our string }{
	{"CLAUDE_MEM_MAX_CONCURRENT_AGENTS", KeyMaxObservers},
	{"CLAUDE_MEM_CONTEXT_SESSION_COUNT", KeyContextMaxSessions},
}

// nodeModes are its modes beside code, with other types and concepts than ours.
var nodeModes = []string{"email-investigation", "law-study", "law-study-CLAUDE", "meme-tokens"}

// readNode returns the members of a settings.json of claude-mem for Node by name, with their values as
// text; nil for another file (none of nodeMarks is in it) and for one that cannot be read.
func readNode(dataDir string) map[string]string {
	data, err := openfile.Read(OlderPath(dataDir))
	if err != nil || len(data) > largestFile {
		return nil
	}
	members := map[string]string{}
	visit := func(key string, value []byte) {
		if e, isSet, ok := parseValue(key, value); isSet && ok {
			members[key] = e.text
		}
	}
	if olderMembers(jsonscan.Relax(data), visit) != nil || !slices.ContainsFunc(nodeMarks, func(mark string) bool { _, has := members[mark]; return has }) {
		return nil
	}
	return members
}

// olderMembers is jsonscan.Members for a settings.json: it goes into the member env, in which early
// releases for Node nested the settings.
func olderMembers(data []byte, visit func(key string, value []byte)) error {
	return jsonscan.Members(data, func(key string, value []byte) {
		if key == "env" && value[0] == '{' {
			_ = jsonscan.Members(value, visit) // checked above
		} else {
			visit(key, value)
		}
	})
}

// OfNode reports whether settings.json is that of claude-mem for Node.
func OfNode(dataDir string) bool { return readNode(dataDir) != nil }

// NodePort returns the port of the worker of claude-mem for Node by its settings.json; 0 if
// there is none.
func NodePort(dataDir string) int {
	port, err := strconv.Atoi(readNode(dataDir)[KeyWorkerPort])
	if err != nil {
		return 0
	}
	return port
}

// fromNode translates the settings of claude-mem for Node: what has another name or other
// values here. Its own port, values that it begins with, and what has no counterpart are
// left out. entries are what our parser found in its file, members all that is in it (readNode).
// origins has for each translated key what it was made of; "" where only the value was shortened.
func fromNode(entries []entry, members map[string]string) (list []entry, origins map[string]string) {
	origins = map[string]string{}
	put := func(key, text, origin string) {
		list, origins[key] = append(list, entry{key: key, text: text}), origin
	}
	provider := members[KeyProvider]
	for _, e := range entries {
		switch {
		case e.key == KeyWorkerPort, // its worker needs it
			e.key == KeyModel && (e.text == nodeModel || strings.HasPrefix(e.text, "$TIER:") || provider != "" && provider != ProviderClaude), // that of its provider claude; $TIER: is no model
			e.key == KeySkipTools && e.text == nodeSkipTools, e.key == KeyProvider && e.text == nodeProvider:
		case e.key == KeyLogLevel:
			e.text = strings.ToLower(e.text)
			list = append(list, e)
		case e.key == KeyMode:
			mode, variant, _ := strings.Cut(e.text, "--")
			if slices.Contains(nodeModes, mode) {
				continue
			}
			if mode != e.text {
				put(KeyMode, mode, "")
				if len(variant) == 2 || len(variant) == 5 && variant[2] == '-' { // else it is a style
					put(KeyLanguage, variant, "MODE "+e.text)
				}
				continue
			}
			list = append(list, e)
		default:
			list = append(list, e)
		}
	}
	for _, n := range nodeNames {
		if text := members[n.node]; text != "" {
			put(n.our, text, strings.TrimPrefix(n.node, prefix))
		}
	}
	if key := prefix + strings.ToUpper(provider) + "_MODEL"; provider != "" && members[key] != "" {
		put(KeyModel, members[key], strings.TrimPrefix(key, prefix))
	}
	if members["CLAUDE_MEM_FOLDER_CLAUDEMD_ENABLED"] == "true" {
		put(KeyAgentFiles, "folders", "FOLDER_CLAUDEMD_ENABLED true")
	}
	return list, origins
}
