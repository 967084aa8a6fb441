package setup

import (
	"context"
	"slices"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"

	"github.com/spf13/cobra"
)

// ConfigImportCommand returns the command `claude-mem config import`: import
// settings.json of an earlier release into config.json.
func (a *Verbs) ConfigImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Import settings.json of an earlier release into config.json",
		Long: `Show the settings in the data directory's settings.json, which earlier releases and
claude-mem for Node write, and import them into config.json. Settings in config.json
are kept, and settings.json is not changed. API keys are imported only with --keys, or
when you say so.

Of claude-mem for Node, what has another name or other values here is translated; what it
begins with, its port and what has no counterpart are left out.

Without a config.json, only the restricting settings of settings.json apply:
EXCLUDED_PROJECTS, INCLUDED_PROJECTS, WITHHOLD_FILES and SKIP_TOOLS (both in addition to
the defaults), PROVIDER=offline and RECALL=off. With a config.json, settings.json is ignored.`,
		Example: "  claude-mem config import\n  claude-mem config import --yes\n  claude-mem config import --yes --keys\n  claude-mem config import --none",
	}
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	none := cmd.Flags().Bool("none", false, "import only the settings that restrict")
	keys := cmd.Flags().Bool("keys", false, "import API keys, too")
	cmd.MarkFlagsMutuallyExclusive("none", "keys")
	return a.InDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		list, err := settings.OlderSettings(dataDir)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			a.Note("nothing to import: there is no setting in %s", settings.OlderPath(dataDir))
			return nil
		}
		a.showOlder(list)
		if !*yes && !*none {
			if ok, err := a.Confirm("Import these into config.json?"); err != nil || !ok {
				return err
			}
		}
		if *none {
			err = settings.Import(dataDir, func(settings.Older) bool { return false })
		} else {
			err = a.importOlder(dataDir, list, *keys, !*yes)
		}
		if err != nil {
			return err
		}
		a.Note("%s written; a running worker applies most settings at once, `claude-mem worker restart` applies all", settings.Path(dataDir))
		return nil
	})
}

// importOlder imports the settings of a settings.json (list) into config.json, API keys if keys
// or, with ask, if a person says so. Without the keys a provider that needs one is left out too,
// and a note says so.
func (a *Verbs) importOlder(dataDir string, list []settings.Older, keys, ask bool) (err error) {
	secret := slices.ContainsFunc(list, func(o settings.Older) bool { return o.Secret })
	if secret && !keys && ask {
		if keys, err = a.Confirm("Import the API keys, too?"); err != nil {
			return err
		}
	}
	wanted := settings.WithoutKeys(list)
	if keys {
		wanted = func(settings.Older) bool { return true }
	}
	if err = settings.Import(dataDir, wanted); err == nil && secret && !keys {
		a.Note("API keys, and the provider that needs one, were not imported: `claude-mem config import --yes --keys` imports them, too")
	}
	return err
}

// showOlder lists the settings of a settings.json.
func (a *Verbs) showOlder(list []settings.Older) {
	p := a.People()
	p.Printf("Settings in settings.json:\n")
	for _, o := range list {
		p.Printf("  %s\n", print.Line(o.Describe(), 120))
	}
}

// olderJSON is a setting of settings.json in the JSON of install.
type olderJSON struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	InForce bool   `json:"in_force"`
	Error   string `json:"error,omitempty"`
}

// olderShapes returns settings as they are shown in JSON.
func olderShapes(list []settings.Older) []olderJSON {
	return collect.MapPtr(list, func(o *settings.Older) olderJSON {
		shape := olderJSON{Key: o.Key, Value: o.Shown(), InForce: o.InForce}
		if o.Err != nil {
			shape.Error = o.Err.Error()
		}
		return shape
	})
}
