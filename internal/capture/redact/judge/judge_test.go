package judge

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/capture/redact/rules"

	"github.com/zricethezav/gitleaks/v8/detect"
)

// exceptions are rules of gitleaks that are not held to, with the reason.
var exceptions = map[string]string{
	"generic-api-key":       "package redact judges assignments by the name's last word and the value; this rule takes every name with \"key\" in it and masks code",
	"curl-auth-user":        "package redact masks the password and leaves the user's name; the rule takes both",
	"sidekiq-sensitive-url": "package redact masks the password of an address and leaves the user; the rule takes both",
}

// public are parts of a finding that stay readable: they are no secret.
var public = map[string]string{
	"slack-webhook-url":       "http://hooks.slack.com/services/https://hooks.slack.com/services/https://hooks.slack.com/workflows/https://hooks.slack.com/triggers/",
	"microsoft-teams-webhook": ".webhook.office.com/webhookb2/",
}

// files are the names under which a rule that asks for one is tried.
var files = map[string]string{
	"freemius-secret-key": "a.php", "hashicorp-tf-password": "a.tf",
	"kubernetes-secret-yaml": "a.yaml", "nuget-config-password": "nuget.config",
}

// samplesPerRule is how many texts are generated for each rule.
const samplesPerRule = 60

// TestMasksWhatTheDetectorFinds generates texts that match the rules of gitleaks
// and compares: each secret that the detector reports must be masked.
func TestMasksWhatTheDetectorFinds(t *testing.T) {
	detector, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 0, len(detector.Config.Rules))
	for id := range detector.Config.Rules {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	judged, findings := 0, 0
	for _, id := range ids {
		rule := detector.Config.Rules[id]
		if rule.Regex == nil || exceptions[id] != "" {
			continue // without an expression it is for names of files
		}
		judged++
		t.Run(id, func(t *testing.T) {
			tree, err := syntax.Parse(rule.Regex.String(), syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			found, left := 0, 0
			for n := range samplesPerRule {
				var b strings.Builder
				generate(&b, tree, random)
				sample := b.String()
				if !slices.ContainsFunc(rule.Keywords, func(k string) bool { return strings.Contains(strings.ToLower(sample), k) }) {
					sample = rule.Keywords[0] + " " + sample
				}
				text := []string{"see " + sample + " ok", sample, "(" + sample + "\n"}[n%3]
				masked, _ := rules.Text(text)
				for _, f := range detector.Detect(detect.Fragment{Raw: text, FilePath: files[id]}) {
					if f.RuleID != id {
						continue
					}
					found++
					if part := remains(masked, secretOf(id, f.Secret), public[id]); part != "" {
						if left++; left <= 2 {
							t.Errorf("%q of the secret is left\n text %.300q\n got %.300q", part, text, masked)
						}
					}
				}
			}
			if found == 0 {
				t.Errorf("the detector finds nothing in samples of its own rule")
			}
			if left > 0 {
				t.Errorf("%d of %d are left", left, found)
			}
			findings += found
		})
	}
	t.Logf("%d rules judged, %d excepted, %d findings", judged, len(exceptions), findings)
}

var masks = regexp.MustCompile(`\[redacted:[^]]*\]`)

// secretOf returns the secret part of a finding: of a Kubernetes manifest not the
// key of the line, of a string in quotes not what follows a quote.
func secretOf(id, secret string) string {
	if id == "kubernetes-secret-yaml" {
		_, secret, _ = strings.Cut(secret, ":")
		return strings.Trim(secret, " \t\r\n|>+-\"'")
	}
	if id == "freemius-secret-key" {
		secret = secret[:strings.IndexAny(secret+"'", `'"`)]
	}
	return secret
}

// remains returns eight bytes in a row of the secret that masked still holds, ""
// when there are none. Parts of public may stay.
func remains(masked, secret, public string) string {
	masked = masks.ReplaceAllString(masked, "\n")
	if len(secret) < 8 && strings.Contains(masked, secret) {
		return secret
	}
	for i := 0; i+8 <= len(secret); i++ {
		if part := secret[i : i+8]; strings.Contains(masked, part) && !strings.Contains(public, part) {
			return part
		}
	}
	return ""
}

const printable = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// generate writes a random text that the expression matches.
func generate(b *strings.Builder, re *syntax.Regexp, random *rand.Rand) {
	repeat := func(low, high int) {
		if high < 0 || high > low+40 {
			high = low + 12
		}
		for range low + random.IntN(high-low+1) {
			generate(b, re.Sub[0], random)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			b.WriteRune(r)
		}
	case syntax.OpCharClass:
		b.WriteRune(pick(re.Rune, random))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(printable[random.IntN(len(printable))])
	case syntax.OpCapture:
		generate(b, re.Sub[0], random)
	case syntax.OpStar:
		repeat(0, 3)
	case syntax.OpPlus:
		repeat(1, 6)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(re.Min, re.Max)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if sub.Op == syntax.OpAnyCharNotNL {
				b.WriteByte('.') // a dot that was not escaped
				continue
			}
			generate(b, sub, random)
		}
	case syntax.OpAlternate:
		generate(b, re.Sub[random.IntN(len(re.Sub))], random)
	}
}

// pick returns a rune of a class, an ASCII one where it has any: first a range of
// the class, so that rare signs come up as well, then one of it.
func pick(class []rune, random *rand.Rand) rune {
	var ranges [][2]rune
	total := 0
	for i := 0; i < len(class); i += 2 {
		if class[i] < 0x7f && (class[i+1] >= '\t' && class[i] < '\v' || class[i] >= ' ') { // no control characters
			low, high := max(class[i], ' '), min(class[i+1], 0x7e)
			if low > high {
				low, high = class[i], class[i]
			}
			ranges = append(ranges, [2]rune{low, high})
			total += int(high-low) + 1
		}
	}
	if len(ranges) == 0 {
		panic(fmt.Sprintf("no ASCII in %q", class))
	}
	n := random.IntN(total)
	for _, r := range ranges {
		if size := int(r[1]-r[0]) + 1; n < size {
			return r[0] + rune(n)
		} else {
			n -= size
		}
	}
	return ranges[0][0]
}
