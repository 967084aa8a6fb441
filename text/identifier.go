package text

import "strings"

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
// or with an underscore between two characters. Names of products are none.
func Identifiers(s string) []string {
	var all []string
	for i := 0; i < len(s); {
		if !IsIdent(s[i]) {
			i++
			continue
		}
		end := i
		for end < len(s) && IsIdent(s[end]) {
			end++
		}
		if w := strings.Trim(s[i:end], "_"); isIdentifier(w) {
			all = Add(all, w)
		}
		i = end
	}
	return all
}

func isIdentifier(w string) bool {
	if len(w) < leastIdentifier || commonIdentifiers[LowerASCII(w)] {
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
