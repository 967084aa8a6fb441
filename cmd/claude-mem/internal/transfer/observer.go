package transfer

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/distil/model/claude"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
)

// ObserverChoice describes the observer that the settings choose, and its cost.
type ObserverChoice struct {
	Provider string `json:"provider"`
	Who      string `json:"who"`
	Cost     string `json:"cost"`
	Change   string `json:"change"`

	none bool // no model makes records
}

// ObserverChoice returns the observer that a worker with the current settings uses; with
// Provider "" if the settings cannot be read. It looks for the claude command and its login, but
// asks no provider.
func (a *Verbs) ObserverChoice() ObserverChoice {
	resolved, _, err := a.LoadSettings()
	if err != nil {
		resolved = &settings.Settings{}
	}
	_, noCLI := claude.Find("claude", os.Environ())
	model := resolved.Text(settings.KeyModel)
	caps := fmt.Sprintf("at most %s tokens a day and %s a session (DAILY_TOKEN_CAP, SESSION_TOKEN_CAP), then the offline distiller takes over",
		text.Grouped(resolved.Int(settings.KeyDailyTokenCap)), text.Grouped(resolved.Int(settings.KeySessionTokenCap)))
	c := ObserverChoice{Provider: resolved.Text(settings.KeyProvider), Change: "claude-mem config set PROVIDER offline"}
	named := c.Provider + print.If(model != "", " with "+model)
	switch {
	case c.Provider == "auto" && noCLI != nil:
		c.Who = noModel + "rules extract the records (no claude command was found)"
		c.Cost, c.Change = "nothing", "claude-mem config set PROVIDER anthropic"
	case c.Provider == "offline":
		c.Who = noModel + "rules extract the records"
		c.Cost, c.Change = "nothing", "claude-mem config set PROVIDER auto"
	case c.Provider == "auto":
		c.auto(a, cmp.Or(model, "haiku"), caps)
	case c.Provider == "claude":
		c.Who = "your claude command with " + cmp.Or(model, "haiku") + ", with its login"
		c.Cost = "mostly one or two calls a turn, charged to that subscription or key; " + caps
	case c.Provider == "ollama":
		c.Who, c.Cost = named+" on this machine", "no money; "+caps
	default:
		c.Who = named + ", with the key in CLAUDE_MEM_" + strings.ToUpper(c.Provider) + "_API_KEY"
		c.Cost = "mostly one or two calls a turn at the provider's price; " + caps
	}
	c.none = strings.HasPrefix(c.Who, noModel)
	return c
}

// noModel begins the description of an observer without a model.
const noModel = "no model: "

// auto fills in who observes with the provider auto, what it costs and how to change it, by the
// login of Claude Code. The claude command was found; caps is the text on the caps of tokens.
func (c *ObserverChoice) auto(a *Verbs, model, caps string) {
	config, _ := claudedir.Config(a.Getenv, a.Home())
	login := claude.ReadLogin(config, a.Getenv)
	c.Who = "your claude command with " + model + ", with "
	c.Cost = "mostly one call a turn, charged to that account; " + caps
	switch {
	case !login.ByItself && login.Name != "":
		c.Who = noModel + login.Name + " of your shell is not used, and the claude command has no login of its own; rules extract the records"
		c.Cost, c.Change = "nothing", login.Remedy()
	case !login.ByItself:
		c.Who = noModel + "the claude command has no login; rules extract the records"
		c.Cost, c.Change = "nothing", login.Remedy()+", or claude-mem config set PROVIDER anthropic"
	case login.Shell:
		c.Who += "its own login (" + login.Name + " of your shell is not used)"
	case login.Name != "":
		c.Who += login.Name + " of its settings"
	default:
		c.Who += "its login"
	}
}

// Show prints the observer, its cost and the command that chooses another one.
func (c ObserverChoice) Show(p *print.Printer) {
	p.Printf("\nObserver (makes records of captured events): %s\n", c.Provider)
	p.Printf("  uses    %s\n  cost    %s\n  change  %s\n", c.Who, c.Cost, c.Change)
}
