package rules

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// ruleFile is what we read of gitleaks' rule file.
type ruleFile struct {
	Rules []ruleText `toml:"rules"`
}

type ruleText struct {
	ID          string   `toml:"id"`
	Regex       string   `toml:"regex"`
	SecretGroup int      `toml:"secretGroup"`
	Entropy     float64  `toml:"entropy"`
	Keywords    []string `toml:"keywords"`
}

const vaultToken = "vault-service-token"

// replaced are rules that package redact does better for our purpose.
var replaced = map[string]bool{
	"generic-api-key": true, // 80 % of the time, half of it on words
	"curl-auth-user":  true,
}

// gates are keywords of ours for rules whose own occur in every other text. Each
// is part of everything that the rule can match.
var gates = map[string][]string{
	"jwt":                    {".ey"},
	vaultToken:               {"hvs.", vaultLegacy},
	"kubernetes-secret-yaml": {"data:"},
	"twilio-api-key":         {twilio},
	"nuget-config-password":  {"add key="}, // the "<" may be escaped
}

// Gates that are no literals: see keywordAt.
const (
	vaultLegacy = "s.\x00" // "s." and 24 letters or digits
	twilio      = "sk\x00" // "SK" and hex
)

// also are what a text must have besides a keyword for a rule to be tried.
var also = map[string]string{"kubernetes-secret-yaml": "kind:"}

// The rules let a token end at a quote, a blank or a semicolon. In paths and
// addresses, in JSON and at the end of a sentence it ends at other signs. Only
// Vault's old tokens (s.…) would then be fields and methods as well.
const (
	endOfToken   = `(?:[\x60'"\s;]|\\[nr]|$)`
	endAtAnySign = `(?:[^0-9A-Za-z_+=-]|$)`
)

// wholeText are rules whose keyword says little of where the secret is.
var wholeText = map[string]bool{"curl-auth-header": true, "kubernetes-secret-yaml": true}

// A rule finds one kind of secret.
type rule struct {
	id      string
	group   int
	entropy float64
	// before and after are how far from its keyword a match can reach.
	before, after int
	also          string // what the text must have besides, "" for nothing
	compile       func() *regexp.Regexp
}

const (
	// maxBefore and maxAfter bound the surroundings of a keyword that a rule sees,
	// in bytes. Only rules for tokens without a bound of length reach maxAfter.
	maxBefore = 256
	maxAfter  = 2048
)

// A ruleSet is read-only once loaded, apart from expressions that are compiled
// when first needed.
type ruleSet struct {
	rules    []rule
	keywords []keyword
	// starts has a bit for the low five bits of each of three bytes in a row, as
	// keywords begin: letters count the same in both cases.
	starts [1 << 15 / 64]uint64
	// byStart lists keywords by those 15 bits.
	byStart map[uint16][]int
}

// A keyword is what a text must have for a rule to be tried.
type keyword struct {
	text string // lower case
	rule int
}

func loadRuleSet() (*ruleSet, error) {
	var file ruleFile
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		return nil, fmt.Errorf("read secret rules: %w", err)
	}
	set := &ruleSet{byStart: make(map[uint16][]int)}
	for _, r := range append(file.Rules, ruleText{
		// As in the file, without the end that the file's needs for old tokens.
		ID: vaultToken, Regex: `\b(hvs\.[\w-]{90,120})`, Keywords: []string{"hvs."},
	}) {
		if r.Regex == "" || replaced[r.ID] {
			continue // without an expression it is for the names of files
		}
		source := r.Regex
		if r.ID != vaultToken {
			source = strings.ReplaceAll(source, endOfToken, endAtAnySign)
		}
		tree, err := syntax.Parse(source, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("read secret rule %s: %w", r.ID, err)
		}
		longest := longestMatch(tree)
		index := len(set.rules)
		set.rules = append(set.rules, rule{
			id: r.ID, group: r.SecretGroup, entropy: r.Entropy,
			also:   also[r.ID],
			before: min(longest, maxBefore), after: min(longest, maxAfter) + 1,
			compile: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) }),
		})
		if wholeText[r.ID] {
			set.rules[index].before, set.rules[index].after = math.MaxInt32, math.MaxInt32
		}
		keywords := r.Keywords
		if own, ok := gates[r.ID]; ok {
			keywords = own
		}
		if len(keywords) == 0 {
			return nil, fmt.Errorf("secret rule %s has no keyword", r.ID)
		}
		for _, text := range keywords {
			set.add(strings.ToLower(text), index)
		}
	}
	return set, nil
}

// add enters a keyword. One of two bytes is entered with every third byte.
func (set *ruleSet) add(text string, index int) {
	n := len(set.keywords)
	set.keywords = append(set.keywords, keyword{text, index})
	enter := func(a, b, c byte) {
		key := uint16(a&31)<<10 | uint16(b&31)<<5 | uint16(c&31)
		set.starts[key/64] |= 1 << (key % 64)
		set.byStart[key] = append(set.byStart[key], n)
	}
	if len(text) >= 3 && text[2] != 0 {
		enter(text[0], text[1], text[2])
		return
	}
	for c := range byte(32) {
		enter(text[0], text[1], c)
	}
}

// longestMatch returns how long a match can be, in bytes; math.MaxInt32 when there is no bound.
func longestMatch(re *syntax.Regexp) int {
	const unbounded = math.MaxInt32
	capped := func(n int) int { return min(n, unbounded) }
	switch re.Op {
	case syntax.OpLiteral:
		return len(string(re.Rune))
	case syntax.OpCharClass, syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		return 4
	case syntax.OpCapture, syntax.OpQuest:
		return longestMatch(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return unbounded
	case syntax.OpRepeat:
		if re.Max < 0 {
			return unbounded
		}
		return capped(re.Max * min(longestMatch(re.Sub[0]), unbounded/max(1, re.Max)))
	case syntax.OpConcat:
		n := 0
		for _, sub := range re.Sub {
			n = capped(n + longestMatch(sub))
		}
		return n
	case syntax.OpAlternate:
		n := 0
		for _, sub := range re.Sub {
			n = max(n, longestMatch(sub))
		}
		return n
	}
	return 0
}

// entropy is the Shannon entropy of s in bits per byte, as gitleaks measures it.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
