package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// leastIdentifier is the least number of characters of an identifier that says
// something: shorter ones are met everywhere ("toInt", "is_ok").
const leastIdentifier = 6

// commonIdentifiers look like identifiers and are names of products, or columns and
// folders that half of all projects have.
var commonIdentifiers = Set(`typescript javascript coffeescript actionscript postgresql mongodb github gitlab bitbucket sourcegraph
	stackoverflow youtube linkedin openai chatgpt deepseek huggingface langchain pytorch tensorflow devops devtools wordpress
	webassembly websocket websockets webrtc graphql jquery nodejs nextjs macos iphone ipados powershell openssl openssh
	openapi opentelemetry cloudflare cloudformation dynamodb clickhouse cockroachdb elasticsearch mariadb sqlserver
	intellij vscode xcode fastapi sqlalchemy junit node_modules created_at updated_at deleted_at first_name last_name
	user_id user_name __init__ __main__ readme todo fixme`)

// Identifiers returns the names in a text that somebody made up for code, each once,
// in their order: words of at least six characters with a capital after a small letter,
// or with an underscore between two characters. Names of products and of errors that any
// program may have are none.
func Identifiers(s string) []string {
	var all []string
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || !IsIdent(byte(r)) }) {
		if w = strings.Trim(w, "_"); isIdentifier(w) {
			all = Add(all, w)
		}
	}
	return all
}

// isIdentifier reports whether a word of ASCII letters, digits and underscores, none at its ends, is
// one of Identifiers.
func isIdentifier(w string) bool {
	if len(w) < leastIdentifier || commonIdentifiers[LowerASCII(w)] || isCommonError(w) {
		return false
	}
	joined, letters := false, false
	for i := 0; i < len(w); i++ {
		c := w[i]
		letters = letters || IsLetter(c)
		joined = joined || c == '_' || i > 0 && 'A' <= c && c <= 'Z' && 'a' <= w[i-1] && w[i-1] <= 'z'
	}
	return joined && letters
}

// commonErrorWords are the words that the standard errors of languages and their
// libraries are named with.
var commonErrorWords = Set(`null nil pointer reference illegal invalid unsupported unexpected unknown unhandled state argument arguments
	arg parameter value type index bounds range out of key name attribute property field method class cast function clause
	import module file directory folder path not no such found exists element assertion runtime syntax parse parser parsing
	format number data io os eof system socket connection connect refused reset aborted broken pipe timeout timed permission
	access denied security unicode encode encoding decode decoding json xml yaml http https url uri request response client
	server network stack overflow memory recursion arithmetic zero division floating point concurrent modification operation
	implemented object disposed lookup keyboard interrupt execution completion process child command called deprecation user
	record database db sql query integrity operational constraint violation max attempts exceeded unauthorized forbidden
	authentication validation require load undefined fatal internal general generic base`)

// isCommonError reports whether an identifier names an error by words that any program
// may have: "NullPointerException", "TypeError". "PaymentDeclinedError" is one of its own.
func isCommonError(w string) bool {
	parts := nameParts(w)
	last := len(parts) - 1
	return last >= 1 && errorSuffixes[parts[last]] && !slices.ContainsFunc(parts[:last], func(p string) bool { return !commonErrorWords[p] })
}

var errorSuffixes = Set("error exception warning failure")

// nameParts returns the words that an identifier of ASCII characters is made of, in lower case: "io"
// and "exception" of "IOException". A digit belongs to the word before it.
func nameParts(w string) []string {
	var parts []string
	capital := func(i int) bool { return i < len(w) && 'A' <= w[i] && w[i] <= 'Z' }
	from := 0
	for i := 1; i <= len(w); i++ {
		begins := i == len(w) || w[i] == '_' || w[i-1] == '_' ||
			capital(i) && (!capital(i-1) || i+1 < len(w) && IsLetter(w[i+1]) && !capital(i+1))
		if begins {
			if part := strings.Trim(w[from:i], "_"); part != "" {
				parts = append(parts, LowerASCII(part))
			}
			from = i
		}
	}
	return parts
}
