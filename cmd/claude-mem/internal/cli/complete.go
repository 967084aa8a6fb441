package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Completions only read: they start no worker and write nothing. An error leaves the shell
// without completions. A person waits for them at every tab.

// completeLimit bounds the time of reading the memory for a completion.
var completeLimit = 500*time.Millisecond + settings.Slack(os.Getenv)

// completeShown bounds the records offered: as many as fit below a prompt.
const completeShown = 20

// Choices lists the values of a word; a description follows after a tab.
type Choices func(ctx context.Context) []cobra.Completion

// Completion offers the choices with the word as prefix, and no files.
func Completion(list Choices) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeLimit)
		defer cancel()
		return collect.Keep(list(ctx), func(choice cobra.Completion) bool { return strings.HasPrefix(choice, word) }), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// FirstOnly completes only the first argument of a command.
func FirstOnly(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, given, word)
	}
}

// Fixed returns constant choices.
func Fixed(words ...string) Choices {
	return func(context.Context) []cobra.Completion { return words }
}

// FileNames completes the names of files.
func FileNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteFlag registers the choices of a flag.
func CompleteFlag(cmd *cobra.Command, flag string, list Choices) {
	if err := cmd.RegisterFlagCompletionFunc(flag, Completion(list)); err != nil {
		panic(err) // the command has no such flag: a mistake in the program
	}
}

// WithDefaults gives a command and those below it what they do not set themselves: the check
// of the arguments that Use names, and no completion of file names for arguments and number
// flags.
func WithDefaults(cmd *cobra.Command) {
	if cmd.Args == nil {
		cmd.Args = argsOf(cmd.Use)
	}
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, given []string) error {
		if err := checkFlags(cmd); err != nil {
			return err
		}
		return check(cmd, given)
	}
	if cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, known := cmd.GetFlagCompletionFunc(f.Name); !known && (f.Value.Type() == "int" || f.Value.Type() == "float64") {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // it is there and has none
		}
	})
	for _, sub := range cmd.Commands() {
		WithDefaults(sub)
	}
}

// Remembered returns the choices that list finds in the memory; none when there is no memory, and
// after any other error. A worker that does not answer within half of completeLimit is passed over.
func Remembered[T any](a *App, list func(context.Context, api.Memory) ([]T, error), choice func(*T) cobra.Completion) Choices {
	return func(ctx context.Context) []cobra.Completion {
		m, err := a.Memory()
		if err != nil {
			return nil
		}
		defer m.Close()
		m.Patience = completeLimit / 2
		records, err := list(ctx, m.Memory)
		if err != nil {
			return nil
		}
		return collect.MapPtr(records, choice)
	}
}

// ProjectChoices completes the names of projects, the last used first; where several have the same
// name, their directories.
func (a *App) ProjectChoices() Choices {
	named := map[string]int{}
	return Remembered(a, func(ctx context.Context, m api.Memory) ([]api.Project, error) {
		projects, err := m.Projects(ctx, api.ProjectsRequest{Brief: true, Limit: api.MaxLimit})
		clear(named)
		for _, p := range projects.Results {
			named[p.Project]++
		}
		return projects.Results, err
	}, func(p *api.Project) cobra.Completion {
		if named[p.Project] > 1 {
			return Described(p.ProjectPath, p.Project)
		}
		return Described(p.Project, p.ProjectPath)
	})
}

// completePage returns the page of the newest records of the current project.
func completePage() api.Paged { return api.Paged{Project: Here(), Limit: completeShown} }

// ObservationChoices completes the ids of the newest observations of the current project.
func (a *App) ObservationChoices() Choices {
	return Remembered(a, func(ctx context.Context, m api.Memory) ([]api.Observation, error) {
		page, err := m.Observations(ctx, api.ObservationsRequest{Paged: completePage()})
		return page.Results, err
	}, func(o *api.Observation) cobra.Completion { return Described(fmt.Sprint(o.ID), o.Title) })
}

// RecordChoices completes the ids of the newest observations and sessions of the current
// project.
func (a *App) RecordChoices() Choices {
	observations, sessions := a.ObservationChoices(), a.SessionChoices()
	return func(ctx context.Context) []cobra.Completion { return append(observations(ctx), sessions(ctx)...) }
}

// SessionChoices completes the ids of the newest sessions of the current project.
func (a *App) SessionChoices() Choices {
	return Remembered(a, func(ctx context.Context, m api.Memory) ([]api.SessionDigest, error) {
		page, err := m.Sessions(ctx, api.SessionsRequest{Dated: api.Dated{Paged: completePage()}})
		return page.Results, err
	}, func(s *api.SessionDigest) cobra.Completion {
		return Described(s.ID.Name(), s.Title)
	})
}

// NamedSessionChoices adds "last" to the choices of sessions.
func (a *App) NamedSessionChoices() Choices {
	sessions := a.SessionChoices()
	return func(ctx context.Context) []cobra.Completion {
		return append([]cobra.Completion{Described("last", "the newest one")}, sessions(ctx)...)
	}
}

// DeadLetterChoices completes the keys of events that failed for good.
func (a *App) DeadLetterChoices() Choices {
	return Remembered(a, func(ctx context.Context, m api.Memory) ([]memory.DeadLetter, error) {
		q, err := m.Queue(ctx, api.QueueRequest{})
		return q.DeadLetters[:min(len(q.DeadLetters), completeShown)], err
	}, func(d *memory.DeadLetter) cobra.Completion { return Described(d.Key, d.LastError) })
}

// LearningChoices completes the ids of the learnings of the current project.
func (a *App) LearningChoices() Choices {
	return Remembered(a, func(ctx context.Context, m api.Memory) ([]api.Learning, error) {
		page, err := m.Learnings(ctx, api.LearningsRequest{Paged: completePage()})
		return page.Results, err
	}, func(l *api.Learning) cobra.Completion { return Described(fmt.Sprint(l.ID), l.Content) })
}

// ModeChoices completes the names of the built-in modes and the user's own.
func (a *App) ModeChoices() Choices {
	return ChoicesOf(func() []mode.Listed {
		dataDir, err := a.DataDir()
		if err != nil {
			return nil
		}
		modes, _ := mode.List(access.ModesDir(dataDir)) // none after an error
		return modes
	}, func(m *mode.Listed) cobra.Completion { return Described(m.Name, m.Description) })
}

// ChoicesOf completes the items of a list that needs no memory.
func ChoicesOf[T any](list func() []T, choice func(*T) cobra.Completion) Choices {
	return func(context.Context) []cobra.Completion { return collect.MapPtr(list(), choice) }
}

// TypeChoices completes the types of observation of the mode in use.
func (a *App) TypeChoices() Choices {
	return ChoicesOf(func() []mode.Term { return a.usedMode().Types }, func(t *mode.Term) cobra.Completion { return Described(t.ID, t.Definition) })
}

// ConceptChoices completes the concepts of the mode in use.
func (a *App) ConceptChoices() Choices {
	return ChoicesOf(func() []mode.Term { return a.usedMode().Concepts }, func(c *mode.Term) cobra.Completion { return Described(c.ID, c.Definition) })
}

// usedMode returns the mode that the settings name, or the default one.
func (a *App) usedMode() mode.Mode {
	dataDir, err := a.DataDir()
	if err != nil {
		return mode.Mode{}
	}
	return a.Place(dataDir).Mode()
}

// settingChoices completes the keys of settings, with their prefix when the word begins
// with it.
func settingChoices(word string) Choices {
	whole := strings.HasPrefix(word, SettingPrefix[:2]) // a key of ours has no CL in front without it
	return ChoicesOf(settings.All, func(s *settings.Setting) cobra.Completion {
		return Described(print.Or(whole, s.Key, strings.TrimPrefix(s.Key, SettingPrefix)), s.Help)
	})
}

// CompleteSetting completes the key of a setting, and its value where these are a list.
func (a *App) CompleteSetting(cmd *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(given) {
	case 0:
		return Completion(settingChoices(word))(cmd, given, word)
	case 1:
		return Completion(a.valueChoices(given[0]))(cmd, given, word)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// valueChoices completes the values that a setting can have; none when it is a text or a
// number.
func (a *App) valueChoices(key string) Choices {
	setting, ok := settings.Lookup(key)
	switch {
	case !ok:
		return Fixed()
	case setting.Key == settings.KeyMode:
		return a.ModeChoices()
	case setting.Key == settings.KeyLanguage:
		return ChoicesOf(mode.Languages, func(l *mode.Language) cobra.Completion { return Described(l.Code, l.Name) })
	case setting.Choices != "":
		return Fixed(strings.Fields(setting.Choices)...)
	case setting.Kind == settings.Bool:
		return Fixed("true", "false")
	}
	return Fixed()
}

// Described returns a completion with a description of one line.
func Described(word, about string) cobra.Completion {
	if about = print.Line(about, 60); about == "" {
		return word
	}
	return cobra.CompletionWithDesc(word, about)
}
