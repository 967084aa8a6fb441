package assign

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// A family is the kind of secret that a name announces. It decides how random a
// value must be to be masked.
type family byte

const (
	famNone family = iota
	// famKey: names that only say "key", and signatures. Only values that are
	// certainly random are masked.
	famKey
	// famSecret: tokens, secrets, API keys. All values but words are masked.
	famSecret
	// famPassword: passwords. Words are masked too, because people choose words.
	famPassword
	// famAuthorization: HTTP headers with credentials.
	famAuthorization
)

// rule returns the name of the rule under which a secret with such a name is counted.
//
//go:noinline
func (f family) rule() string {
	switch f {
	case famPassword:
		return tokens.RulePassword
	case famAuthorization:
		return tokens.RuleAuthorization
	}
	return tokens.RuleAssigned
}

// shortest returns the length of the shortest value that is masked, in bytes.
func (f family) shortest() int {
	switch f {
	case famKey:
		return shapes.MinRandom
	case famSecret:
		return 6
	}
	return 3
}

// nameFamily returns the family of a name: of a variable, a setting, a JSON key, a
// header, in any spelling (DB_PASSWORD, dbPassword, db-password). The last word decides: token_type
// and passwordField name no secret. A name above shapes.MaxName bytes has none.
func nameFamily(name string) family {
	if len(name) < 3 && !strings.EqualFold(name, "pw") || len(name) > shapes.MaxName || !mayBeSecretName(name) {
		return famNone
	}
	if name == "PWD" || name == "OLDPWD" {
		return famNone // the shell's directories
	}
	// Lower case, with '_' between words however they were written.
	var buffer [2 * shapes.MaxName]byte
	n := 0
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			// A word starts at a capital after a small letter, and at the last
			// capital of a run before a small letter (APIKey), but for the 's' of APIKEYs.
			if n > 0 && buffer[n-1] != '_' &&
				(!shapes.IsUpper(name[i-1]) || i+1 < len(name) && shapes.IsLower(name[i+1]) && (name[i+1] != 's' || i+2 < len(name))) {
				buffer[n] = '_'
				n++
			}
			buffer[n] = c | 0x20
			n++
		case c == '-' || c == '.' || c == '_' || c == ' ':
			if n > 0 && buffer[n-1] != '_' {
				buffer[n] = '_'
				n++
			}
		default:
			buffer[n] = c
			n++
		}
	}
	for n > 0 && buffer[n-1] == '_' {
		n--
	}
	return wordsFamily(shapes.View(buffer[:n]))
}

// nameStarts has the first letters of each word of lastWordFamily: by two of them
// (shapes.KeyOf) the third, as a set of bits by their low five bits.
var nameStarts [1 << 10]uint32

// init fills nameStarts: a few assignments each time that the hook starts.
func init() {
	for _, start := range [...]string{"pas", "pat", "psk", "psw", "pw", "sec", "sal", "sig", "tok", "key", "cre", "aut", "bea"} {
		third := ^uint32(0)
		if len(start) > 2 {
			third = 1 << (start[2] & 31)
		}
		nameStarts[shapes.KeyOf(start[0], start[1])] |= third
	}
}

// mayBeSecretName returns false quickly for most names: those without the beginning of a word that
// lastWordFamily knows.
func mayBeSecretName(name string) bool {
	for i := 1; i < len(name); i++ {
		third := byte(0)
		if i+1 < len(name) {
			third = name[i+1] & 31
		}
		if nameStarts[shapes.KeyOf(name[i-1], name[i])]>>third&1 != 0 {
			return true
		}
	}
	return false
}

// wordsFamily is nameFamily for words separated by '_'. It skips words that only
// qualify the one before (API_KEY_PROD).
func wordsFamily(words string) family {
	for {
		last, before := lastWord(words)
		if fam := lastWordFamily(last, before); fam != famNone {
			return fam
		}
		if before == "" || !shapes.Number(last) && !shapes.Listed(qualifiers, last) {
			return famNone
		}
		words = before
	}
}

// lastWordFamily returns the family by the last word of a name, in small letters, and the words
// before it, joined by "_"; famNone for other words.
func lastWordFamily(last, before string) family {
	previous, _ := lastWord(before)
	switch last {
	case "pass":
		if before == "" {
			return famSecret // of a test, more often
		}
		return famPassword
	case "pat": // personal access token, or pattern
		if shapes.Listed(tokenOwners, previous) {
			return famSecret
		}
	case "tokens":
		if previous == "" || shapes.Listed(tokenCounts, previous) {
			return famKey
		}
		return famSecret
	case "base": // SECRET_KEY_BASE
		if strings.HasSuffix(before, "secret_key") {
			return famSecret
		}
	case "authorization":
		return famAuthorization
	case "key", "keys":
		switch {
		case shapes.Listed(secretKeys, previous):
			return famSecret
		case previous == "public" || previous == "pub":
			return famNone
		}
		return famKey
	case "signature", "sig":
		return famKey
	}
	switch {
	case shapes.Listed(passwordWords, last), shapes.EndsInOne(last, "password", "passwd", "passphrase"):
		return famPassword
	case shapes.Listed(secretWords, last), shapes.EndsInOne(last, "secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "authkey", "accountkey"):
		return famSecret
	}
	return famNone
}

// Words that name a secret, and those before "pat" that make it a token.
const (
	passwordWords = " password passwords passwd passphrase pwd pw psk passcode psw userpass storepass keypass dbpass dbpw rootpass adminpass mailpass smtppass "
	secretWords   = " salt secret secrets token apikey apikeys credential credentials creds cred auth bearer "
	tokenOwners   = " gh github gitlab git azure ado devops bitbucket access user my "
)

// qualifiers are words that may follow the one that names the secret.
const qualifiers = " " +
	"value val prod production dev development staging stage test live old new base64 b64 " +
	"raw plain plaintext default encoded str string v1 v2 v3 primary secondary "

// secretKeys are words before "key" that make it a secret.
const secretKeys = " " +
	"api secret access private encryption encrypt decryption signing sign auth account " +
	"shared service master client app application license licence ssh gpg pgp deploy jwt " +
	"session hmac aes admin webhook subscription instrumentation function aws azure openai " +
	"anthropic stripe gemini google github gitlab slack sendgrid twilio datadog mailgun " +
	"write ingest integration consumer rsa host server root storage cipher crypto "

// tokenCounts are words before "tokens" that make them a model's.
const tokenCounts = " " +
	"max min input output total prompt completion cache cached read creation used num n " +
	"reasoning thinking budget estimated all remaining context "

// lastWord returns the word behind the last '_', and the words before it.
func lastWord(words string) (last, before string) {
	if i := strings.LastIndexByte(words, '_'); i >= 0 {
		return words[i+1:], words[:i]
	}
	return words, ""
}
