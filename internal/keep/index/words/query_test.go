package words

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestQuery(t *testing.T) {
	tests := []struct{ query, want string }{
		{"", ""},
		// - is a stop word, + joined, ? an identifier, ( ) a part.
		{"how does the retry work", "how- does- the- retry retrywork+ work"},
		{"what is this about?", "what is this about"},
		{"user service", "user userservice+ service"},
		{"log in fails", "log login+ in- fails"},
		{"it timed out", "it- timed timeout+ out-"},
		{"rolling back", "rolling rollback+ back"},
		{"getUserByID", "getuserbyid? (get?) (user?) (by?-) (id?)"},
		{"認証 エラー", "認証 エラ ラー"},
		{"warum läuft der Test nicht", "warum- lauft der- test nicht-"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			var got, want []string
			for _, w := range Query(tt.query) {
				s := w.Raw
				if w.Joined {
					s += "+"
				} else {
					if w.Identifier {
						s += "?"
					}
					if w.Stop {
						s += "-"
					}
					if w.Part {
						s = "(" + s + ")"
					}
				}
				got = append(got, s)
			}
			want = strings.Fields(tt.want)
			if !slices.Equal(got, want) {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
		})
	}
}

func TestVariants(t *testing.T) {
	tests := []struct{ typed, meant string }{
		{"authentcation", "authentication"}, {"authenticatoin", "authentication"},
		{"tokken", "token"}, {"tokem", "token"}, {"oken", "token"}, {"tokn", "token"}, {"e0520", "e0502"}, {"cachee", "cache"},
	}
	for _, tt := range tests {
		found := ""
		for _, v := range Variants(tt.typed) {
			if v.Raw == tt.meant {
				found = v.Text
			}
		}
		if want := stemmed(tt.meant); found != want {
			t.Errorf("Variants(%q) yields %q with stem %q, want %q", tt.typed, tt.meant, found, want)
		}
	}
	for _, none := range []string{"größe", "検索", strings.Repeat("a", maxVariant+1)} {
		for _, v := range Variants(none) {
			t.Fatalf("Variants(%q) yields %q", none, v.Raw)
		}
	}
	for _, v := range Variants("") {
		if len(v.Raw) != 1 {
			t.Errorf("Variants of nothing yields %q", v.Raw)
		}
	}
}

// All words that one edit makes of another are its variants, each once.
func TestVariantsAreAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-c]{1,6}`).Draw(t, "word")
		seen := map[string]bool{}
		for _, v := range Variants(word) {
			text := v.Raw
			if text == word {
				t.Fatalf("the word itself is a variant")
			}
			if seen[text] {
				t.Fatalf("%q comes twice", text)
			}
			seen[text] = true
		}
		i := rapid.IntRange(0, len(word)-1).Draw(t, "i")
		c := rapid.StringMatching(`[a-z]`).Draw(t, "c")
		edits := []string{word[:i] + word[i+1:], word[:i] + c + word[i:], word[:i] + c + word[i+1:], word + c}
		if i+1 < len(word) {
			edits = append(edits, word[:i]+word[i+1:i+2]+word[i:i+1]+word[i+2:])
		}
		for _, e := range edits {
			if e != word && e != "" && !seen[e] {
				t.Fatalf("%q is no variant of %q", e, word)
			}
		}
	})
}

func TestSplits(t *testing.T) {
	var got []string
	for _, pair := range Splits("userservice") {
		got = append(got, fmt.Sprintf("%s+%s", pair[0].Raw, pair[1].Raw))
	}
	if !slices.Contains(got, "user+service") || slices.Contains(got, "us+erservice") {
		t.Errorf("Splits: %q", got)
	}
}

func TestStopWords(t *testing.T) {
	for _, w := range []string{"the", "how", "dont", "uber", "wurde"} {
		if !IsStop(w) {
			t.Errorf("%q is no stop word", w)
		}
	}
	for _, w := range []string{"", "error", "die", "not found", "go", "work"} {
		if IsStop(w) {
			t.Errorf("%q is a stop word", w)
		}
	}
}

func BenchmarkVariants(b *testing.B) {
	for b.Loop() {
		for range Variants("authentication") {
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	for b.Loop() {
		Query("why did the token refresh fail with 401 invalid_grant in session_store.ts")
	}
}
