package search

import (
	"strings"
	"testing"
)

func TestIsExpression(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{"auth AND token", true},
		{"auth OR login OR session", true},
		{"auth NOT token", true},
		{"auth AND NOT token", true},
		{"(auth OR login) AND session", true},
		{"HTTP AND TLS", true},
		{"NEAR(auth token)", true},
		{"NEAR(auth token, 5)", true},
		{"auth NEAR(token refresh, 5)", true},
		{`"connection refused"`, true},
		{`"connection refused" postgres`, true},
		{`"connection refused" OR timeout`, true},
		{"auth*", true},
		{"auth* token", true},
		{"auth* OR tok*", true},
		{"auth NEAR token", true},
		{"auth NEAR/3 token", true},
		{"title:cart", true},
		{"title:cart rounding", true},

		{"", false},
		{"auth and token", false},
		{"AND", false},
		{"AND auth", false},
		{"auth OR", false},
		{"auth AND OR token", false},
		{"NEAR", false},
		{"NEAR miss", false},
		{"title: the cart", false},
		{"TypeError:undefined", false},
		{"(auth) token", false},
		{"main()", false},
		{"f(a, b)", false},
		{"(auth AND token", false},
		{"auth AND token)", false},
		{`"never closed`, false},
		{`" "`, false},
		{`Revert "Add the cart"`, false},
		{`panic: "index out of range" in main`, false},
		{`"foo" is not what "bar" says it is here`, false},
		{"SELECT * FROM cart", false},
		{"char *p", false},
		{"**kwargs", false},
		{"*.go", false},
		{"a*b", false},
		{"Support AND and OR in the filter", false},
		{"Make the parser handle AND correctly when nested", false},
		{"WHY DOES THIS NOT WORK AT ALL", false},
		{"fix the glob src/* AND others", false},
	}
	for _, tt := range tests {
		if got := isExpression(tt.text); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.text, got, tt.want)
		}
	}
}

// FuzzIsExpression: no text hangs or panics, and what is none has no operator taken
// for one.
func FuzzIsExpression(f *testing.F) {
	for _, text := range []string{`a AND "b c" NOT (d OR e*)`, "NEAR(", `"`, "((((", "a AND NOT", "AND NOT AND", "*", "a* b* c*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text, _ = cleanText(text)
		if isExpression(text) && !strings.ContainsAny(text, `"*:`) &&
			!strings.Contains(text, "AND") && !strings.Contains(text, "OR") && !strings.Contains(text, "NOT") && !strings.Contains(text, "NEAR") {
			t.Errorf("%q is taken for an expression", text)
		}
		excludes(text)
	})
}
