package words

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// show writes words as a table case has them: parts in parentheses, words of one
// position joined by |.
func show(list []Word) string {
	var b strings.Builder
	for i, w := range list {
		switch {
		case i == 0:
		case list[i-1].Position == w.Position:
			b.WriteByte('|')
		default:
			b.WriteByte(' ')
		}
		if w.Part {
			fmt.Fprintf(&b, "(%s)", w.Text)
		} else {
			b.WriteString(w.Text)
		}
	}
	return b.String()
}

func TestText(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"spaces", " \t\n", ""},
		{"sentence", "The parsers failed, twice!", "the parser fail twice"},
		{"camel", "getUserByEmail", "getuserbyemail|(get)|(user)|(by)|(email)"},
		{"acronym", "HTTPServer", "httpserver|(http)|(server)"},
		{"acronym inside", "parseJSONBody", "parsejsonbodi|(pars)|(json)|(bodi)"},
		{"plural acronym", "the URLs and IDs", "the url and id"},
		{"one letter first", "OAuthToken IService OAuth", "oauthtoken|(oauth)|(auth)|(token) iservic|(servic) oauth|(auth)"},
		{"digits", "sha256Sum utf8 E0502 0x1Fa", "sha256sum|(sha256)|(sum) utf8 e0502 0x1fa"},
		{"file", "user_service.go", "userservicego|(userservic)|(go)|(user)|(servic)"},
		{"test file", "auth.service.spec.ts", "authservicespect|(auth)|(servic)|(spec)|(ts)"},
		{"path", "src/auth/UserService.ts:42", "src auth userservicet|(userservic)|(ts)|(user)|(servic) 42"},
		{"windows path", `C:\src\main.rs`, "c src mainr|(main)|(rs)"},
		{"snake", "x86_64 MAX_RETRY_COUNT", "x8664|(x86)|(64) maxretrycount|(max)|(retri)|(count)"},
		{"kebab", "foo-bar --iexclude-file -v", "foobar|(foo)|(bar) iexcludefil|(iexclud)|(file) v"},
		{"dots", "a.b.c", "abc|(a)|(b)|(c)"},
		{"member", "UserRepo.findAll()", "userrepofindal|(userrepo)|(findal)|(user)|(repo)|(find)|(all)"},
		{"end of sentence", "Done. Next...", "done next"},
		{"ellipsis and dashes", "a--b __init__", "a b init"},
		{"version", "v1.2.3", "1v2v3|(1v2)"},
		{"version of a library", "go1.26.8 node-v20.11.0", "go1v26v8|(go1v26) nodev20v11v0|(node)|(20v11v0)|(20v11)"},
		{"release candidate", "1.2.3-rc1", "1v2v3rc1|(1v2v3)|(rc1)|(1v2)"},
		{"address", "10.0.0.1:8080", "10v0v0v1|(10v0)|(10v0v0) 8080"},
		{"issue", "#123 GH-7", "123 gh7|(gh)|(7)"},
		{"date", "2026-11-20", "20261120|(2026)|(11)|(20)"},
		{"possessive", "the parser's don't O’Brien’s", "the parser dont obrien|(brien)"},
		{"quoted", "'quoted' word'", "quot word"},
		{"languages", "C++ and C# and c", "cpp and csharp and c"},
		{"accents", "Größe naïve café Éléphant Ångström Łódź", "gross naiv cafe eleph angstrom lodz"},
		{"decomposed", "cafe\u0301 nai\u0308ve", "cafe naiv"},
		{"greek and cyrillic", "Ποιός Ёлка", "ποιοσ елка"},
		{"wide", "ＡＰＩ１２", "api12"},
		{"soft hyphen", "inter\u00adface", "interfac"},
		{"japanese", "認証トークン", "認証 証ト トー ーク クン"},
		{"one character", "木 と", "木 と"},
		{"chinese and latin", "修复login超时 bug", "修复 login 超时 bug"},
		{"korean", "로그인 오류", "로그 그인 오류"},
		{"beyond the basic plane", "𠮷野家", "𠮷野 野家"},
		{"emoji", "🚀 ship👍🏽it ❤️", "ship it"},
		{"nul and garbage", "a\x00b\xff\xfec", "a b c"},
		{"url", "https://example.com/a?b=c", "http examplecom|(exampl)|(com) a b c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := show(Text(tt.text)); got != tt.want {
				t.Errorf("Text(%q)\n got %s\nwant %s", tt.text, got, tt.want)
			}
		})
	}
}

// Spellings of one name find each other: each has a word of each other's query.
func TestSpellings(t *testing.T) {
	groups := [][]string{
		{"user_service", "UserService", "userservice", "user_service.go", "user-service", "userService", "USER_SERVICE"},
		{"v1.2.3", "1.2.3"},
		{"e-mail", "email", "E-Mail"},
		{"timeout", "time-out", "timeOut"},
		{"Müller", "muller", "MÜLLER"},
		{"utf-8", "utf8", "UTF_8"},
	}
	for _, group := range groups {
		for _, query := range group {
			for _, text := range group {
				if !finds(query, text) {
					t.Errorf("%q does not find %q", query, text)
				}
			}
		}
	}
	for _, text := range groups[0] {
		if !finds("user service", text) {
			t.Errorf("%q does not find %q", "user service", text)
		}
		if text != "userservice" && !finds(text, "the user service") {
			t.Errorf("%q does not find the words by themselves", text)
		}
	}
}

func finds(query, text string) bool {
	for _, q := range Query(query) {
		if !q.Stop && slices.ContainsFunc(Text(text), func(w Word) bool { return w.Text == q.Text }) {
			return true
		}
	}
	return false
}

func TestPaths(t *testing.T) {
	got := Paths([]string{"src/auth/user_service.go", "src/auth/test/login.go", "", "/", `lib\test`})
	want := "src auth userservicego|(userservic)|(go)|(user)|(servic) test logingo|(login)|(go) lib test"
	if show(got) != want {
		t.Errorf("Paths\n got %s\nwant %s", show(got), want)
	}
	lib := slices.IndexFunc(got, func(w Word) bool { return w.Text == "lib" })
	if gap := got[lib].Position - got[lib-1].Position; gap < pathGap {
		t.Errorf("the second path begins %d after the first, want at least %d", gap, pathGap)
	}
	if n := len(Paths([]string{strings.Repeat("a/", 1<<19)})); n < 1<<18 {
		t.Errorf("a path of a megabyte has %d words", n)
	}
}

func TestHash(t *testing.T) {
	// Stored numbers: these values are in databases. From the FNV reference vectors.
	for word, want := range map[string]uint32{"": 0x811c9dc5, "a": 0xe40c292c, "foobar": 0xbf9cf968} {
		if got := Hash(word); got != want {
			t.Errorf("Hash(%q) = %#x, want %#x", word, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	tests := []struct {
		name, text string
		atLeast    int // words
		atMost     int
	}{
		{"one long word", strings.Repeat("a", 1<<20), 1, 1},
		{"capitals", strings.Repeat("aB", 1<<19), 1, 40},
		{"joined words", strings.Repeat("word-", 1<<17), 1 << 17, 1 << 18},
		{"dotted", strings.Repeat("w.", 1<<17), 1 << 17, 1 << 18},
		{"numbers", strings.Repeat("1.", 1<<17), 1, 1 << 18},
		{"joiners", strings.Repeat("-", 1<<20), 0, 0},
		{"emoji", strings.Repeat("🚀", 1<<18), 0, 0},
		{"broken", strings.Repeat("\xff", 1<<20), 0, 0},
		{"accents", "e" + strings.Repeat("\u0301", 1<<19), 1, 1},
		{"pairs", strings.Repeat("検", 1<<18), 1<<18 - 1, 1 << 18},
		{"long word of two bytes a letter", strings.Repeat("щ", 1<<19), 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := Text(tt.text)
			if len(list) < tt.atLeast || len(list) > tt.atMost {
				t.Errorf("%d words, want %d to %d", len(list), tt.atLeast, tt.atMost)
			}
			checkWords(t, list)
		})
	}
}

type failer interface{ Fatalf(string, ...any) }

// checkWords checks what the package guarantees of all words.
func checkWords(t failer, list []Word) {
	for i, w := range list {
		if w.Text == "" || len(w.Text) > maxWord || !utf8.ValidString(w.Text) {
			t.Fatalf("word %q of %d bytes", w.Text, len(w.Text))
		}
		for _, r := range w.Text {
			if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
				t.Fatalf("word %q has %q", w.Text, r)
			}
		}
		if i > 0 && (w.Position < list[i-1].Position || w.Part != (w.Position == list[i-1].Position)) {
			t.Fatalf("word %q: part %v at %d after %d", w.Text, w.Part, w.Position, list[i-1].Position)
		}
	}
}

func checkAgreement(t failer, s string) {
	doc := Text(s)
	checkWords(t, doc)
	query := slices.DeleteFunc(Query(s), func(w QueryWord) bool { return w.Joined })
	if len(doc) != len(query) {
		t.Fatalf("Text has %d words, Query %d", len(doc), len(query))
	}
	for i, q := range query {
		if (Word{q.Text, q.Position, q.Part}) != doc[i] {
			t.Fatalf("Text has %+v, Query %+v", doc[i], q)
		}
	}
}

func TestAgreement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(
			rapid.StringMatching(`[a-zA-Z]{1,8}`), rapid.StringMatching(`[a-zA-Z0-9]{1,5}[-_.'/ ][a-zA-Z0-9]{0,5}`),
			rapid.String(), rapid.SampledFrom([]string{" ", ".", "認証", "ü", "\xff", "v1.2.3", "’s", "C++"}))
		checkAgreement(t, strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), ""))
	})
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"getUserByEmail v1.2.3", "認証トークン", "a.b-c_d'e", "\x00\xff", "ǅX ß.ẞ", "１．２"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkAgreement(t, s)
		checkPaths := Paths([]string{s, s})
		for _, w := range checkPaths {
			if w.Text == "" || len(w.Text) > maxWord {
				t.Fatalf("word %q", w.Text)
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat(`Fixed the token refresh race in src/auth/session_store.ts: refreshToken() awaited
the HTTP call outside of the lock, so two tabs rotated the same refresh token and the second got a 401
(invalid_grant). Moved the lock into SessionStore.withLock and added a regression test. `, 40)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Text(text)
	}
}

func BenchmarkJapanese(b *testing.B) {
	text := strings.Repeat("認証トークンの更新で競合が発生していたため、ロックを追加して修正した。", 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Text(text)
	}
}
