package cli

import (
	"claudemem/internal/leaf/settings"
	"claudemem/internal/serve/agentfiles"
)

// Targets returns the targets that are named, else those of the setting.
func (a *App) Targets(dataDir string, named []string) ([]agentfiles.Target, error) {
	if len(named) == 0 {
		resolved, err := settings.Load(dataDir, a.Getenv)
		if err != nil {
			a.Note("warning: %v", err)
		}
		named = resolved.Items(settings.KeyAgentFiles)
	}
	return agentfiles.ParseTargets(named)
}

// LoadSettings reads the settings of a command. It warns of a broken file and uses the
// last good copy.
func (a *App) LoadSettings() (*settings.Settings, string, error) {
	dataDir, err := a.DataDir()
	if err != nil {
		return nil, "", err
	}
	resolved, err := settings.Load(dataDir, a.Getenv)
	if err != nil {
		a.Note("warning: %s", err)
	}
	for _, problem := range resolved.Problems() {
		a.Note("warning: %s; it has no effect", problem)
	}
	return resolved, dataDir, nil
}

const SettingPrefix = "CLAUDE_MEM_"

// OlderSettings returns the settings of settings.json that were not imported yet.
func (a *App) OlderSettings(dataDir string) []settings.Older {
	list, err := settings.PendingImport(dataDir)
	if err != nil {
		a.Note("warning: %s", err)
	}
	return list
}
