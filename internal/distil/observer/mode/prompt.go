package mode

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// Limits of the texts that a prompt quotes, in bytes of the prompt.
const (
	maxRequest      = 4 << 10
	maxLastMessage  = 8 << 10
	maxLabel        = 200 // a project's or tool's name
	maxDirectory    = 500 // a directory or file
	maxTechnology   = 40
	maxTechnologies = 12
	maxLanguage     = 40
	maxLearning     = 200
	maxLearnings    = 800 // all of them
	maxEarlier      = 120 // the title of an earlier record
	maxEarlierAll   = 900 // all of them
)

// Facts describe a session at the beginning of its observer run.
type Facts struct {
	// Project is the project's label, Root its directory.
	Project, Root string
	Session       memory.SessionID
	// Technologies of the project, as far as known.
	Technologies []string
	// Learnings are what is known of the project, the surest first.
	Learnings []string
}

// System returns the beginning of a run: the role, the format of the answer, and the mode's types,
// concepts and a whole answer as an example. It is the same for all sessions of a mode, so that a
// provider can cache it. language is that of the records by name or code, "" for the user's.
func System(m Mode, language string) string {
	in := "Write in the language of the user's requests; types and concepts stay as they are. If it is not English, add <keywords>up to 15 English words</keywords> to each observation."
	if l := languageName(language); l != "" {
		in = "Write all text in " + l + ", whatever language the session is in; types and concepts stay as they are."
	}
	w := &m.Wording
	return render("system.md", map[string]string{
		"role": w.Role, "language": in, "types": definitions(m.Types), "concepts": definitions(m.Concepts),
		"worth": bullets(w.Worth), "skip": bullets(w.Skip), "good": w.Good, "nothing": w.Nothing, "bad": bullets(w.Bad),
	})
}

// definitions returns terms and what they mean as the items of a list.
func definitions(terms []Term) string {
	return bullets(collect.Map(terms, func(t Term) string { return t.ID + ": " + t.Definition }))
}

// bullets returns lines as the items of a list.
func bullets(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "- " + strings.Join(lines, "\n- ")
}

// Session returns what the first prompt of a run says of the session.
func Session(f Facts) string {
	technologies := collect.Map(f.Technologies, func(t string) string { return oneLine(t, maxTechnology) })
	technologies = collect.Keep(technologies, func(t string) bool { return t != "" })
	about := element("project", oneLine(f.Project, maxLabel)) + element("directory", oneLine(f.Root, maxDirectory)) +
		element("technologies", strings.Join(technologies[:min(len(technologies), maxTechnologies)], ", ")) + element("session", fmt.Sprintf("S%d", f.Session))
	return render("session.md", map[string]string{"about": about, "learnings": fitting(f.Learnings, maxLearnings, func(l *string) string {
		return "- " + oneLine(*l, maxLearning) + "\n"
	})})
}

// fitting returns the lines of the first records, as many as fit into limit bytes.
func fitting[T any](records []T, limit int, lineOf func(*T) string) string {
	var b strings.Builder
	for i := range records {
		line := lineOf(&records[i])
		if b.Len()+len(line) > limit {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// Turn returns the prompt about events of a turn that were not shown before: at its end one that
// asks for observations, summary and learnings, with the agent's last message, before that one for
// observations. An empty prompt or message is left out. Events that do not fit (see Fit) are only named.
func (v View) Turn(events []memory.PendingEvent, prompt memory.Prompt, lastMessage string, ended bool) string {
	name := "observations.md"
	if ended {
		name = "turn.md"
	}
	return render(name, map[string]string{
		"mark": v.Mark, "request": v.request(prompt), "events": v.renderEvents(events), "earlier": v.earlier(),
		"closing": v.quote("last_message_of_the_agent", raw(v.relative(strings.TrimSpace(lastMessage)), maxLastMessage)),
	})
}

// ShownBefore returns what stands in a run's history for the prompt of a turn: its
// request and its events. The texts are lines without markup.
func ShownBefore(prompt memory.Prompt, events []string) string {
	return render("shown.md", map[string]string{"number": strconv.Itoa(prompt.Number), "request": prompt.Text, "events": bullets(events)})
}

// Names returns the list of a session's names for the beginning of a new run. names
// is a line without markup.
func Names(names string) string { return render("names.md", map[string]string{"names": names}) }

// Reminder returns the prompt after an answer that could not be used.
func Reminder() string { return render("reminder.md", nil) }

// request returns the part of a prompt for the model with the user's request, "" for an
// empty one.
func (v View) request(p memory.Prompt) string {
	request := raw(v.relative(strings.TrimSpace(p.Text)), maxRequest)
	if request == "" {
		return ""
	}
	date := ""
	if p.CreatedAt != 0 {
		date = ` date="` + p.CreatedAt.Time().Format(time.DateOnly) + `"`
	}
	return `<user_request number="` + strconv.Itoa(p.Number) + `"` + date + " " + v.Mark + ">" + request + "</user_request " + v.Mark + ">\n\n"
}

// earlier returns the part of a prompt for the model with the titles of earlier records, as
// many as fit into maxEarlierAll bytes; "" for none.
func (v View) earlier() string {
	records := fitting(v.Earlier, maxEarlierAll, func(o *memory.Observation) string {
		return "#" + strconv.FormatInt(int64(o.ID), 10) + " " + oneLine(string(o.Type), maxTechnology) + ": " + oneLine(text.Reported(o.Provenance, o.Title), maxEarlier) + "\n"
	})
	if records == "" {
		return ""
	}
	return render("earlier.md", map[string]string{"records": records}) + "\n"
}

// element returns <name>escaped</name> and a line end, "" for an empty text.
func element(name, escaped string) string {
	if escaped == "" {
		return ""
	}
	return "<" + name + ">" + escaped + "</" + name + ">\n"
}

// render fills in one of the prompts.
func render(name string, values map[string]string) string {
	prompt, err := promptFiles.ReadFile("prompts/" + name)
	if err != nil {
		panic(err) // the file is compiled in
	}
	return strings.TrimRight(text.Fill(string(prompt), values), "\n") + "\n"
}
