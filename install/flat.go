package install

import (
	"encoding/json"
	"slices"
	"strconv"

	"claudemem"
	"claudemem/hook"
	"claudemem/jsonscan"
)

// flatHooks is JSON with Cursor's form of hooks: a version, and by event a list of
// commands.
type flatHooks struct{}

func (flatHooks) add(in *Installer, host claudemem.Host, now []byte) ([]byte, error) {
	d, err := jsonscan.ParseRelaxed(now)
	if err != nil {
		return nil, err
	}
	if d.Find("version") == nil {
		if err := d.Set([]byte("1"), "version"); err != nil {
			return nil, err
		}
	}
	wanted := map[string]bool{}
	for _, c := range hook.Commands(host, in.opts.GOOS, in.programPath(HookProgram)) {
		wanted[c.Event] = true
		entry := jsonscan.AppendQuote([]byte(`{"command":`), c.Line)
		entry = append(strconv.AppendInt(append(entry, `,"timeout":`...), int64(c.Timeout), 10), '}')
		if slices.ContainsFunc(hookGroups(d, c.Event), func(h []byte) bool { return sameJSON(h, entry) }) {
			continue
		}
		d.RemoveFunc(in.isOurHook, "hooks", c.Event)
		if err := d.Add(entry, "hooks", c.Event); err != nil {
			return nil, err
		}
	}
	for _, event := range slices.Clone(d.Keys("hooks")) { // of an earlier version
		if !wanted[event] {
			d.RemoveFunc(in.isOurHook, "hooks", event)
		}
	}
	return d.Bytes(), nil
}

// flatCommand returns the command of a hook, "" for one without.
func flatCommand(entry []byte) string {
	var h struct{ Command string }
	if json.Unmarshal(jsonscan.Relax(entry), &h) != nil {
		return ""
	}
	return h.Command
}

// isOurHook reports whether a hook runs our program.
func (in *Installer) isOurHook(entry []byte) bool {
	path, ok := hook.ProgramOf(flatCommand(entry))
	return ok && (isGone(path) || in.isHookProgram(path))
}

func (flatHooks) strip(in *Installer, now, before []byte) ([]byte, error) {
	return stripJSON(now, before, func(d, old *jsonscan.Document) {
		for _, event := range slices.Clone(d.Keys("hooks")) {
			if d.RemoveFunc(in.isOurHook, "hooks", event) > 0 && len(d.Find("hooks", event).Kids) == 0 && old.Find("hooks", event) == nil {
				d.Remove("hooks", event)
			}
		}
	}, "hooks")
}

func (flatHooks) isBlank(data []byte) bool {
	return sameJSON(data, nil, "hooks") || sameJSON(data, []byte(`{"version":1}`), "hooks")
}

func (flatHooks) read(data []byte) (ours, error) {
	d, err := jsonscan.ParseRelaxed(data)
	if err != nil {
		return ours{}, err
	}
	var o ours
	for _, event := range d.Keys("hooks") {
		for _, entry := range hookGroups(d, event) {
			o.note(event, flatCommand(entry))
		}
	}
	return o, nil
}

func (flatHooks) events(host claudemem.Host) []string { return eventsOf(host) }
