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

// Limits of what a prompt quotes, in bytes of the prompt.
const (
	maxRequest      = 1000
	maxLastMessage  = 4 << 10
	maxLabel        = 200 // a project, a tool's name
	maxDirectory    = 500
	maxTechnology   = 40
	maxTechnologies = 12
	maxLanguage     = 40
)

// Facts are what is known of a session when its observer run begins.
type Facts struct {
	// Project is its label or path.
	Project string
	// Technologies are the project's, as far as known.
	Technologies []string
	// Request is the prompt that the run begins with.
	Request string
	// Language is what the records are written in; "" is the language of the user.
	Language string
}

// System is the beginning of a run: the role, the format of the answer, the
// mode's types and concepts, and the session. It stays the same for all calls of
// a run, so that a provider can cache it.
func System(m Mode, f Facts) string {
	choices := make([]string, len(m.Types))
	for i, t := range m.Types {
		choices[i] = string(t.ID)
	}
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
		"Mode": m, "TypeChoice": strings.Join(choices, " | "), "Language": language, "Session": session.String(),
	})
}

// Observations asks what of the events is worth remembering. prompt is what the
// user wanted in their turn; a zero one is left out. Events that do not fit (see
// Fit) are only named.
func Observations(m Mode, events []claudemem.PendingEvent, prompt claudemem.Prompt) string {
	return render("observations.md", map[string]any{
		"Request": request(prompt), "Events": renderEvents(events),
	})
}

// Summary asks for the checkpoint of a turn, after its events were shown.
// lastMessage is what the host said at the end.
func Summary(m Mode, prompt claudemem.Prompt, lastMessage string) string {
	return render("summary.md", map[string]any{
		"Request": request(prompt), "LastMessage": closing(lastMessage),
	})
}

// Turn is Observations and Summary in one, for a small turn.
func Turn(m Mode, events []claudemem.PendingEvent, prompt claudemem.Prompt, lastMessage string) string {
	return render("turn.md", map[string]any{
		"Request": request(prompt), "Events": renderEvents(events), "LastMessage": closing(lastMessage),
	})
}

func request(p claudemem.Prompt) string {
	text := clip(strings.TrimSpace(p.Text), maxRequest)
	if text == "" {
		return ""
	}
	return `<user_request number="` + strconv.Itoa(p.Number) + `">` + text + "</user_request>\n\n"
}

func closing(lastMessage string) string {
	text := clip(strings.TrimSpace(lastMessage), maxLastMessage)
	if text == "" {
		return ""
	}
	return "<last_message_of_the_agent>\n" + text + "\n</last_message_of_the_agent>\n\n"
}

// element writes <name>escaped</name> and a line's end, if there is something to write.
func element(b *strings.Builder, name, escaped string) {
	if escaped != "" {
		b.WriteString("<" + name + ">" + escaped + "</" + name + ">\n")
	}
}

// render fills in a template. They are ours and tested: one that fails is a fault
// of the program.
func render(name string, data any) string {
	var b strings.Builder
	if err := prompts.ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
