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
	maxRequest      = 1000
	maxLastMessage  = 4 << 10
	maxLabel        = 200 // a project's or tool's name
	maxDirectory    = 500
	maxTechnology   = 40
	maxTechnologies = 12
	maxLanguage     = 40
)

// Facts describe a session at the beginning of its observer run.
type Facts struct {
	// Project is the project's label or path.
	Project string
	// Technologies of the project, as far as known.
	Technologies []string
	// Request is the user's prompt at the beginning of the run.
	Request string
	// Language of the records; "" is the language of the user.
	Language string
}

// System returns the beginning of a run: the role, the format of the answer, the
// mode's types and concepts, and the session. It is the same for all calls of a
// run, so that a provider can cache it.
func System(m Mode, f Facts) string {
	types, _ := m.Vocabulary()
	language := "Write in the language of the user's requests; types and concepts stay as they are."
	if l := oneLine(f.Language, maxLanguage); l != "" {
		language = "Write all text in " + l + ", whatever language the session is in; types and concepts stay as they are."
	}
	var session strings.Builder
	element(&session, "project", oneLine(f.Project, maxLabel))
	technologies := make([]string, 0, maxTechnologies)
	for _, t := range f.Technologies {
		if t = oneLine(t, maxTechnology); t != "" && len(technologies) < maxTechnologies {
			technologies = append(technologies, t)
		}
	}
	element(&session, "technologies", strings.Join(technologies, ", "))
	element(&session, "user_request", clip(strings.TrimSpace(f.Request), maxRequest))
	return render("system.md", map[string]any{
		"Mode": m, "TypeChoice": strings.Join(types, " | "), "Language": language, "Session": session.String(),
	})
}

// Observations returns the prompt that asks for observations of the events. prompt
// is the user's prompt of their turn; an empty one is left out. Events that do not
// fit (see Fit) are only named.
func Observations(events []claudemem.PendingEvent, prompt claudemem.Prompt) string {
	return render("observations.md", map[string]any{
		"Request": request(prompt), "Events": renderEvents(events),
	})
}

// Summary returns the prompt that asks for the checkpoint of a turn whose events
// were shown. lastMessage is the agent's last message.
func Summary(prompt claudemem.Prompt, lastMessage string) string {
	return render("summary.md", map[string]any{
		"Request": request(prompt), "LastMessage": closing(lastMessage),
	})
}

// Turn returns the prompt for observations and the checkpoint of a small turn.
func Turn(events []claudemem.PendingEvent, prompt claudemem.Prompt, lastMessage string) string {
	return render("turn.md", map[string]any{
		"Request": request(prompt), "Events": renderEvents(events), "LastMessage": closing(lastMessage),
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
func request(p claudemem.Prompt) string {
	text := clip(strings.TrimSpace(p.Text), maxRequest)
	if text == "" {
		return ""
	}
	return `<user_request number="` + strconv.Itoa(p.Number) + `">` + text + "</user_request>\n\n"
}

// closing returns the part of a prompt for the model with the agent's last message, ""
// for an empty one.
func closing(lastMessage string) string {
	text := clip(strings.TrimSpace(lastMessage), maxLastMessage)
	if text == "" {
		return ""
	}
	return "<last_message_of_the_agent>\n" + text + "\n</last_message_of_the_agent>\n\n"
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
