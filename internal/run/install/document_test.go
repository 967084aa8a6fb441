package install

import (
	"testing"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/jsonscan"
)

// FuzzDocument adds our entries to a file and removes them: the edited file is JSON,
// and the result has the meaning of the original.
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
		settings, in := hostFiles[atSettings], New(Options{DataDir: "/data", GOOS: "linux"})
		bare, err := in.without(settings, data, data, true)
		if err != nil {
			t.Fatalf("strip: %v", err)
		}
		clean := string(bare) == string(data)
		if d.Set([]byte("true"), "enabledPlugins", PluginID) != nil ||
			in.addHooks(d, hook.HooksJSON("linux", "/data/bin/claude-mem-hook")) != nil {
			return // of another shape
		}
		edited := d.Bytes()
		if _, err := jsonscan.Parse(edited); err != nil {
			t.Fatalf("the edit broke it: %v\n%q", err, edited)
		}
		again, err := in.without(settings, edited, data, true)
		if err != nil {
			t.Fatalf("strip: %v", err)
		}
		if clean && !sameJSON(again, data, settings.empties...) {
			t.Fatalf("from %q\nto   %q\nback %q", data, edited, again)
		}
	})
}
