package install

import (
	"testing"

	"claudemem/hook"
	"claudemem/jsonscan"
)

// Whatever the file: an edit leaves JSON, changes what it should and nothing
// else, and taking our entries out again gives the bytes back.
func FuzzDocument(f *testing.F) {
	for _, text := range userSettings {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"enabledPlugins":{"claude-mem@claude-mem-local":true},"hooks":{"Stop":[{"hooks":[]}],"Stop":1}}`))
	f.Add([]byte(`{"hooks":[{}],"enabledPlugins":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := jsonscan.Parse(data)
		if err != nil {
			return
		}
		if string(d.Bytes()) != string(data) {
			t.Fatalf("read and written it is %q", d.Bytes())
		}
		settings := hostFiles[atSettings]
		bare, err := settings.without(data, data, true, []string{"/data/bin/claude-mem-hook"})
		if err != nil {
			t.Fatalf("strip: %v", err)
		}
		clean := string(bare) == string(data)
		if d.Set([]byte("true"), "enabledPlugins", PluginID) != nil ||
			plainHooks(d, hook.HooksJSON("linux", "/data/bin/claude-mem-hook"), []string{"/data/bin/claude-mem-hook"}) != nil {
			return // of another shape
		}
		edited := d.Bytes()
		if _, err := jsonscan.Parse(edited); err != nil {
			t.Fatalf("the edit broke it: %v\n%q", err, edited)
		}
		again, err := settings.without(edited, data, true, []string{"/data/bin/claude-mem-hook"})
		if err != nil {
			t.Fatalf("strip: %v", err)
		}
		if clean && !sameJSON(again, data, settings.empties...) {
			t.Fatalf("from %q\nto   %q\nback %q", data, edited, again)
		}
	})
}
