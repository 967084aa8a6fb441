package words

import (
	"strings"
	"testing"
)

func TestMark(t *testing.T) {
	for _, tt := range []struct{ line, searched, want string }{
		{"Rounding, per-line: rounds <b>, rounded; around", "rounding", "[Rounding], per-line: [rounds] <b>, [rounded]; around"},
		{"Retries of the parser", "retry parsed", "[Retries] of the parser"},
		{"Retries of the parser", "parser", "Retries of the [parser]"},
		{"getUserByEmail and user_name, abuser", "user", "[getUserByEmail] and [user_name], abuser"},
		{"getUserByEmail", "getuserbyemail", "[getUserByEmail]"},
		{"das Café läuft", "cafe lauft", "das [Café] [läuft]"},
		{"登録のエラー処理", "エラ ラー", "登録の[エラー]処理"},
		{"nothing", "", "nothing"},
		{"", "x", ""},
	} {
		var got, whole strings.Builder
		for _, p := range Mark(tt.line, strings.Fields(tt.searched)) {
			whole.WriteString(p.Text)
			if p.Marked {
				got.WriteString("[" + p.Text + "]")
			} else {
				got.WriteString(p.Text)
			}
		}
		if got.String() != tt.want || whole.String() != tt.line {
			t.Errorf("%q in %q: got %s, want %s", tt.searched, tt.line, got.String(), tt.want)
		}
	}
}

func FuzzMark(f *testing.F) {
	f.Add("Rounding エラー a_b\xff", "round")
	f.Fuzz(func(t *testing.T, line, searched string) {
		whole, last := "", false
		for i, p := range Mark(line, []string{searched}) {
			if whole += p.Text; p.Text == "" || i > 0 && p.Marked == last {
				t.Errorf("an empty piece, or two of a kind: %q", line)
			}
			last = p.Marked
		}
		if whole != line {
			t.Errorf("the pieces of %q are %q", line, whole)
		}
	})
}
