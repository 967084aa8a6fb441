package mode

import (
	"embed"
	"strconv"
	"strings"
	"text/template"

	"claudemem"
)

//go:embed prompts/*.md
var promptFiles embed.FS

var prompts = template.Must(template.ParseFS(promptFiles, "prompts/*.md"))

// Limits of the texts that a prompt quotes, in bytes of the prompt.
const (
	maxRequest      = 4 << 10
	maxLastMessage  = 8 << 10
	maxLabel        = 200 // a project's or tool's name
	maxDirectory    = 500
	maxTechnology   = 40
	maxTechnologies = 12
	maxLanguage     = 40
	maxLearning     = 200
	maxLearnings    = 800 // all of them
)

// Facts describe a session at the beginning of its observer run.
type Facts struct {
	// Project is the project's label, Root its directory.
	Project, Root string
	// Technologies of the project, as far as known.
	Technologies []string
	// Learnings are what is known of the project, the surest first.
	Learnings []string
}

// System returns the beginning of a run: the role, the format of the answer, and the
// mode's types, concepts and examples. It is the same for all sessions of a mode, so that
// a provider can cache it. language is that of the records, "" for the user's.
func System(m Mode, language string) string {
	types, _ := m.Vocabulary()
	in := "Write in the language of the user's requests; types and concepts stay as they are."
	if l := oneLine(language, maxLanguage); l != "" {
		in = "Write all text in " + l + ", whatever language the session is in; types and concepts stay as they are."
	}
	return render("system.md", map[string]any{"Mode": m, "TypeChoice": strings.Join(types, " | "), "Language": in})
}

// Session returns what the first prompt of a run says of the session.
func Session(f Facts) string {
	var about strings.Builder
	element(&about, "project", oneLine(f.Project, maxLabel))
	element(&about, "directory", oneLine(f.Root, maxDirectory))
	technologies := make([]string, 0, maxTechnologies)
	for _, t := range f.Technologies {
		if t = oneLine(t, maxTechnology); t != "" && len(technologies) < maxTechnologies {
			technologies = append(technologies, t)
		}
	}
	element(&about, "technologies", strings.Join(technologies, ", "))
	return render("session.md", map[string]any{"About": about.String(), "Learnings": learningLines(f.Learnings)})
}

// learningLines returns a line for each learning, as many as fit into maxLearnings bytes.
func learningLines(learnings []string) string {
	var b strings.Builder
	for _, l := range learnings {
		line := "- " + oneLine(l, maxLearning) + "\n"
		if b.Len()+len(line) > maxLearnings {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// Observations returns the prompt that asks for observations of the events. prompt
// is the user's prompt of their turn; an empty one is left out. Events that do not
// fit (see Fit) are only named.
func (v View) Observations(events []claudemem.PendingEvent, prompt claudemem.Prompt) string {
	return render("observations.md", map[string]any{
		"Mark": v.Mark, "Request": v.request(prompt), "Events": v.renderEvents(events),
	})
}

// Turn returns the prompt that asks for observations, summary and learnings at the end of
// a turn: events are those that were not shown before, lastMessage is the agent's last
// message.
func (v View) Turn(events []claudemem.PendingEvent, prompt claudemem.Prompt, lastMessage string) string {
	return render("turn.md", map[string]any{
		"Mark": v.Mark, "Request": v.request(prompt), "Events": v.renderEvents(events), "LastMessage": v.closing(lastMessage),
	})
}

// ShownBefore returns what stands in a run's history for the prompt of a turn: its
// request, its events and whether its checkpoint was asked for. The texts are lines
// without markup.
func ShownBefore(prompt claudemem.Prompt, events []string, checkpoint bool) string {
	return render("shown.md", map[string]any{"Prompt": prompt, "Events": events, "Checkpoint": checkpoint})
}

// Names returns the list of a session's names for the beginning of a new run. names
// is a line without markup.
func Names(names string) string { return render("names.md", names) }

// Reminder returns the prompt after an answer that could not be used.
func Reminder() string { return render("reminder.md", nil) }

// request returns the part of a prompt for the model with the user's request, "" for an
// empty one.
func (v View) request(p claudemem.Prompt) string {
	request := raw(v.relative(strings.TrimSpace(p.Text)), maxRequest)
	if request == "" {
		return ""
	}
	return `<user_request number="` + strconv.Itoa(p.Number) + `" ` + v.Mark + ">" + request + "</user_request " + v.Mark + ">\n\n"
}

// closing returns the part of a prompt for the model with the agent's last message, ""
// for an empty one.
func (v View) closing(lastMessage string) string {
	var b strings.Builder
	v.quote(&b, "last_message_of_the_agent", raw(v.relative(strings.TrimSpace(lastMessage)), maxLastMessage))
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// element returns <name>escaped</name> and a line end, "" for an empty text.
func element(b *strings.Builder, name, escaped string) {
	if escaped != "" {
		b.WriteString("<" + name + ">" + escaped + "</" + name + ">\n")
	}
}

// render executes a template. The templates are tested, so a failure is a bug.
func render(name string, data any) string {
	var b strings.Builder
	if err := prompts.ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
