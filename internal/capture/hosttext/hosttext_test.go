package hosttext

import (
	"encoding/json"
	"os"
	"testing"
)

// form is a text in the user's place and what it is, as testdata/host-text/forms.json has it.
type form struct{ Name, Text, Typed, From, Message string }

func TestForms(t *testing.T) {
	content, err := os.ReadFile("../../../testdata/host-text/forms.json")
	if err != nil {
		t.Fatal(err)
	}
	var forms []form
	if err := json.Unmarshal(content, &forms); err != nil {
		t.Fatal(err)
	}
	for _, f := range forms {
		typed, message := Read(f.Text)
		if got := (form{f.Name, f.Text, typed, message.From, message.Text}); got != f {
			t.Errorf("got  %q\nwant %q", got, f)
		}
		if again, _ := Read(typed); again != typed {
			t.Errorf("%s: read again: %q", f.Name, again)
		}
	}
}

// FuzzRead: what was typed is the same when it is read again, and nothing of a message is.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"<ide_a>x</ide_a>\nhi", "a\n<ide_a>b", "<tick>1</tick>Warmup", `<channel source="x">y</channel>z`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typed, message := Read(text)
		if again, m := Read(typed); again != typed || m.Text != "" {
			t.Errorf("%q: typed %q, again %q", text, typed, again)
		}
		if typed != "" && message.Text != "" {
			t.Errorf("%q is both", text)
		}
	})
}

func TestIsHelper(t *testing.T) {
	for _, c := range []struct {
		id, kind string
		want     bool
	}{
		{"acompact-1f2e3d4c", "", true}, {"aprompt_suggestion-77aa", "", true}, {"acompact-1f2e3d4c", "Explore", false},
		{"a1f2e3d4c", "", false}, {"1f2e3d4c-5b6a-4000-8000-000000000001", "", false}, {"-1", "", false}, {"", "", false},
	} {
		if got := IsHelper(c.id, c.kind); got != c.want {
			t.Errorf("%q of type %q: %v", c.id, c.kind, got)
		}
	}
}
