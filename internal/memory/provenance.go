package memory

import (
	"slices"
	"strings"
)

// Provenance says who could have written the text of an event, or of what a record was
// made of. It is set at intake and kept with the event and the record.
type Provenance string

// The provenances. The zero value is that of events and records from before it was kept,
// and means the same as FromUnknown.
const (
	FromUser    Provenance = "user"    // typed by the user: prompts, answers in dialogs
	FromAgent   Provenance = "agent"   // said by the agent or a subagent
	FromProject Provenance = "project" // the project's files, commands within it
	FromUnknown Provenance = "unknown" // not known to be the project's, nor another's
	FromOutside Provenance = "outside" // other files, other repositories, third parties within the tree
	FromMCP     Provenance = "mcp"     // what an MCP server answered
	FromWeb     Provenance = "web"     // pages, searches, what a command fetched
)

// fromMember begins the provenance of what a member of a team has shared; the member's name follows.
const fromMember = "team:"

// FromMember returns the provenance of what a member of a team has written: foreign to this memory.
func FromMember(name string) Provenance { return Provenance(fromMember + name) }

// Member returns the name of the member of a team who has written text of p, "" for other text.
func (p Provenance) Member() string {
	name, found := strings.CutPrefix(string(p), fromMember)
	if !found || strings.Trim(name, memberChars) != "" {
		return ""
	}
	return name
}

// memberChars are the characters of a member's name.
const memberChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@-"

// trust is the place of a provenance in byTrust: a member of a team is trusted like another repository.
func (p Provenance) trust() int {
	if p.Member() != "" {
		p = FromOutside
	}
	return slices.Index(byTrust, p)
}

// byTrust lists the provenances, the most trusted first. An MCP server is one that the
// user has chosen; a page can be anybody's.
var byTrust = []Provenance{FromUser, FromAgent, FromProject, "", FromUnknown, FromOutside, FromMCP, FromWeb}

// Unknown reports whether nobody knows who wrote text of p: it is no source of a learning,
// and neither marked nor ranked as foreign.
func (p Provenance) Unknown() bool { return p == "" || p == FromUnknown }

// Foreign reports whether text of p is known to be by somebody who has nothing to do with
// the project. It states no rule, wish or decision of the project's.
func (p Provenance) Foreign() bool {
	return p == FromOutside || p == FromMCP || p == FromWeb || p.Member() != ""
}

// sources name where foreign text is from.
var sources = map[Provenance]string{FromOutside: "from outside the project", FromMCP: "from an MCP server", FromWeb: "from the web"}

// Source returns "from the web", "from alice" and the like, "" for text that is not foreign.
func (p Provenance) Source() string {
	if name := p.Member(); name != "" {
		return "from " + name
	}
	return sources[p]
}

// MostTrusted returns the more trusted of two provenances, in the order of byTrust: "" is between
// FromProject and FromUnknown.
func MostTrusted(a, b Provenance) Provenance {
	if a.trust() <= b.trust() {
		return a
	}
	return b
}

// LeastTrusted returns the least trusted of several provenances, "" for none. The order is that of
// byTrust: of "" and FromProject it returns "".
func LeastTrusted(all ...Provenance) Provenance {
	if len(all) == 0 {
		return ""
	}
	return slices.MaxFunc(all, func(a, b Provenance) int { return a.trust() - b.trust() })
}
