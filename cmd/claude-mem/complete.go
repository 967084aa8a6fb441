package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"claudemem/internal/distil/observer/mode"
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

// choices lists the values of a word; a description follows after a tab.
type choices func(ctx context.Context) []cobra.Completion

// completion offers the choices with the word as prefix, and no files.
func completion(list choices) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeLimit)
		defer cancel()
		var fit []cobra.Completion
		for _, choice := range list(ctx) {
			if strings.HasPrefix(choice, word) {
				fit = append(fit, choice)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// firstOnly completes only the first argument of a command.
func firstOnly(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, given, word)
	}
}

// fixed returns constant choices.
func fixed(words ...string) choices {
	return func(context.Context) []cobra.Completion { return words }
}

// fileNames completes the names of files.
func fileNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeFlag registers the choices of a flag.
func completeFlag(cmd *cobra.Command, flag string, list choices) {
	if err := cmd.RegisterFlagCompletionFunc(flag, completion(list)); err != nil {
		panic(err) // the command has no such flag: a mistake in the program
	}
}

// withDefaults gives a command and those below it what they do not set themselves: the check
// of the arguments that Use names, and no completion of file names for arguments and number
// flags.
func withDefaults(cmd *cobra.Command) {
	if cmd.Args == nil {
		cmd.Args = argsOf(cmd.Use)
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
		withDefaults(sub)
	}
}

// remembered returns the choices that list finds in the memory; none when there is no memory.
func remembered[T any](a *app, list func(context.Context, api.Memory) ([]T, error), choice func(*T) cobra.Completion) choices {
	return func(ctx context.Context) []cobra.Completion {
		m, err := a.memory()
		if err != nil {
			return nil
		}
		defer m.close()
		m.patience = completeLimit / 2
		records, err := list(ctx, m.Memory)
		if err != nil {
			return nil
		}
		return mapped(records, choice)
	}
}

// projectChoices completes the names of projects; where several have one, their
// directories.
func (a *app) projectChoices() choices {
	named := map[string]int{}
	return remembered(a, func(ctx context.Context, m api.Memory) ([]api.Project, error) {
		projects, err := m.Projects(ctx, api.ProjectsRequest{Brief: true, Limit: api.MaxLimit})
		clear(named)
		for _, p := range projects.Results {
			named[p.Project]++
		}
		return projects.Results, err
	}, func(p *api.Project) cobra.Completion {
		if named[p.Project] > 1 {
			return described(p.ProjectPath, p.Project)
		}
		return described(p.Project, p.ProjectPath)
	})
}

// completePage returns the page of the newest records of the current project.
func completePage() api.Paged { return api.Paged{Project: here(), Limit: completeShown} }

// observationChoices completes the ids of the newest observations of the current project.
func (a *app) observationChoices() choices {
	return remembered(a, func(ctx context.Context, m api.Memory) ([]api.Observation, error) {
		page, err := m.Observations(ctx, api.ObservationsRequest{Paged: completePage()})
		return page.Results, err
	}, func(o *api.Observation) cobra.Completion { return described(fmt.Sprint(o.ID), o.Title) })
}

// recordChoices completes the ids of the newest observations and sessions of the current
// project.
func (a *app) recordChoices() choices {
	observations, sessions := a.observationChoices(), a.sessionChoices()
	return func(ctx context.Context) []cobra.Completion { return append(observations(ctx), sessions(ctx)...) }
}

// sessionChoices completes the ids of the newest sessions of the current project.
func (a *app) sessionChoices() choices {
	return remembered(a, func(ctx context.Context, m api.Memory) ([]api.SessionDigest, error) {
		page, err := m.Sessions(ctx, api.SessionsRequest{Dated: api.Dated{Paged: completePage()}})
		return page.Results, err
	}, func(s *api.SessionDigest) cobra.Completion {
		return described(fmt.Sprintf("S%d", s.ID), cmp.Or(s.Title, s.LastPrompt))
	})
}

// namedSessionChoices adds "last" to the choices of sessions.
func (a *app) namedSessionChoices() choices {
	sessions := a.sessionChoices()
	return func(ctx context.Context) []cobra.Completion {
		return append([]cobra.Completion{described("last", "the newest one")}, sessions(ctx)...)
	}
}

// deadLetterChoices completes the keys of events that failed for good.
func (a *app) deadLetterChoices() choices {
	return remembered(a, func(ctx context.Context, m api.Memory) ([]memory.DeadLetter, error) {
		q, err := m.Queue(ctx, api.QueueRequest{})
		return q.DeadLetters[:min(len(q.DeadLetters), completeShown)], err
	}, func(d *memory.DeadLetter) cobra.Completion { return described(d.Key, d.LastError) })
}

// learningChoices completes the ids of the learnings of the current project.
func (a *app) learningChoices() choices {
	return remembered(a, func(ctx context.Context, m api.Memory) ([]api.Learning, error) {
		page, err := m.Learnings(ctx, api.LearningsRequest{Paged: completePage()})
		return page.Results, err
	}, func(l *api.Learning) cobra.Completion { return described(fmt.Sprint(l.ID), l.Content) })
}

// modeChoices completes the names of the built-in modes and the user's own.
func (a *app) modeChoices() choices {
	return choicesOf(func() []mode.Listed {
		dataDir, err := a.dataDir()
		if err != nil {
			return nil
		}
		modes, _ := mode.List(modesDir(dataDir)) // none after an error
		return modes
	}, func(m *mode.Listed) cobra.Completion { return described(m.Name, m.Description) })
}

// choicesOf completes the items of a list that needs no memory.
func choicesOf[T any](list func() []T, choice func(*T) cobra.Completion) choices {
	return func(context.Context) []cobra.Completion { return mapped(list(), choice) }
}

// typeChoices completes the types of observation of the mode in use.
func (a *app) typeChoices() choices {
	return choicesOf(func() []mode.Type { return a.usedMode().Types }, func(t *mode.Type) cobra.Completion { return described(string(t.ID), t.Definition) })
}

// conceptChoices completes the concepts of the mode in use.
func (a *app) conceptChoices() choices {
	return choicesOf(func() []mode.Concept { return a.usedMode().Concepts }, func(c *mode.Concept) cobra.Completion { return described(c.ID, c.Definition) })
}

// usedMode returns the mode that the settings name, or the default one.
func (a *app) usedMode() mode.Mode {
	dataDir, err := a.dataDir()
	if err != nil {
		return mode.Mode{}
	}
	resolved, _ := settings.Load(dataDir, a.getenv) // a broken file leaves the defaults
	return mode.LoadOrDefault(resolved.Text(settings.KeyMode), modesDir(dataDir))
}

// vocabulary returns the types and concepts of the mode in use.
func (a *app) vocabulary() (types, concepts []string) { return a.usedMode().Vocabulary() }

// settingChoices completes the keys of settings, with their prefix when the word begins
// with it.
func settingChoices(word string) choices {
	return func(context.Context) (found []cobra.Completion) {
		for _, s := range settings.All() {
			key := s.Key
			if !strings.HasPrefix(word, settingPrefix[:2]) { // a key of ours has no CL in front without it
				key = strings.TrimPrefix(key, settingPrefix)
			}
			found = append(found, described(key, s.Help))
		}
		return found
	}
}

// completeSetting completes the key of a setting, and its value where these are a list.
func (a *app) completeSetting(cmd *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(given) {
	case 0:
		return completion(settingChoices(word))(cmd, given, word)
	case 1:
		return completion(a.valueChoices(given[0]))(cmd, given, word)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// valueChoices completes the values that a setting can have; none when it is a text or a
// number.
func (a *app) valueChoices(key string) choices {
	setting, ok := settings.Lookup(key)
	switch {
	case !ok:
		return fixed()
	case setting.Key == settings.KeyMode:
		return a.modeChoices()
	case setting.Key == settings.KeyLanguage:
		return choicesOf(mode.Languages, func(l *mode.Language) cobra.Completion { return described(l.Code, l.Name) })
	case setting.Choices != "":
		return fixed(strings.Fields(setting.Choices)...)
	case setting.Kind == settings.Bool:
		return fixed("true", "false")
	}
	return fixed()
}

// described returns a completion with a description of one line.
func described(word, about string) cobra.Completion {
	if about = oneLine(about, 60); about == "" {
		return word
	}
	return cobra.CompletionWithDesc(word, about)
}
