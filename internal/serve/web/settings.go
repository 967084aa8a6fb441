package web

import (
	"slices"
	"strings"

	"claudemem/internal/leaf/settings"
)

// settingPrefix begins the name of every setting; commands and the page leave it out.
const settingPrefix = "CLAUDE_MEM_"

// settingGroup are the settings of one group of the table.
type settingGroup struct {
	Name     string
	Settings []shownSetting
}

// shownSetting is a setting with its name as commands take it, and whether it is not at its
// default.
type shownSetting struct {
	settings.View
	Name    string
	Changed bool
}

// settings lists the settings by group; with the parameter changed those that are not at their
// default.
func (v *visit) settings() view {
	only := v.URL.Query().Get("changed") != ""
	var groups []settingGroup
	all, changed := v.opts.Worker.Settings(), 0
	for _, s := range all {
		one := shownSetting{s, strings.TrimPrefix(s.Key, settingPrefix), s.Origin != settings.FromDefault || s.Error != ""}
		if one.Changed {
			changed++
		}
		if only && !one.Changed {
			continue
		}
		i := slices.IndexFunc(groups, func(g settingGroup) bool { return g.Name == s.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, settingGroup{Name: s.Group})
		}
		groups[i].Settings = append(groups[i].Settings, one)
	}
	return view{Title: "Settings", JSON: "/api/settings", Data: struct {
		Groups       []settingGroup
		All, Changed int
		Only         bool
	}{groups, len(all), changed, only}}
}
