package main

import (
	"claudemem/settings"

	"github.com/spf13/cobra"
)

func (a *app) configImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Take settings.json of an earlier release over into config.json",
		Long: `Show the settings in the data directory's settings.json, which earlier releases and
claude-mem for Node write, and take them over into config.json. What config.json sets
stays, and settings.json is left as it is.

While there is no config.json, a settings.json counts as far as it restricts:
EXCLUDED_PROJECTS, INCLUDED_PROJECTS, WITHHOLD_FILES and SKIP_TOOLS (both in addition to
the defaults), PROVIDER=offline and RECALL=off. Once there is one, it counts no more.`,
		Example: "  claude-mem config import\n  claude-mem config import --yes\n  claude-mem config import --none",
		Args:    noArgs,
	}
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	none := cmd.Flags().Bool("none", false, "begin config.json with nothing but what restricts")
	cmd.RunE = a.withDataDir(func(_ *cobra.Command, dataDir string, _ []string) error {
		list, err := settings.OlderSettings(dataDir)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			a.note("nothing to import: there is no setting in %s", settings.OlderPath(dataDir))
			return nil
		}
		a.showOlder(list)
		if !*yes && !*none {
			if ok, err := a.confirm("Take these over into config.json?"); err != nil || !ok {
				return err
			}
		}
		if err := settings.Import(dataDir, *none); err != nil {
			return err
		}
		a.note("%s written; a running worker uses most of it at once, `claude-mem worker restart` makes it use all", settings.Path(dataDir))
		return nil
	})
	return cmd
}

// showOlder lists the settings of a settings.json.
func (a *app) showOlder(list []settings.Older) {
	p := a.people()
	p.printf("Settings in settings.json:\n")
	for _, o := range list {
		p.printf("  %s\n", oneLine(o.Describe(), 120))
	}
}

// olderSettings shows and returns what a settings.json sets that was not taken over yet.
func (a *app) olderSettings() ([]settings.Older, error) {
	dataDir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	list, err := settings.PendingImport(dataDir)
	if err != nil {
		a.note("warning: %s", err)
		return nil, nil
	}
	if len(list) > 0 {
		a.note("")
		a.showOlder(list)
		a.note("They are taken over into config.json.")
	}
	return list, nil
}

func (a *app) importOlder() error {
	dataDir, err := a.dataDir()
	if err != nil {
		return err
	}
	return settings.Import(dataDir, false)
}
