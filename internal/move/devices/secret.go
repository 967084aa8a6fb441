package devices

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"claudemem/internal/memory"
)

// secretBytes is the size of a secret, words how many words it is typed as: with eight bits of its checksum,
// eleven bits a word.
const (
	secretBytes = 32
	wordBits    = 11
	// Words is how many words a sheet has.
	Words = 24
)

// secret is what the devices of an epoch have in common.
type secret [secretBytes]byte

func newSecret() (s secret) {
	_, _ = rand.Read(s[:]) // never fails
	return s
}

// The letters of a word: a consonant, a vowel, a consonant, and one of two vowels, so that a person can read it out.
const (
	consonants = "bdfghjklmnprstvz"
	vowels     = "aiou"
	lastVowels = "ao"
)

// words returns the sheet of the secret.
func (s secret) words() []string {
	sum := sha256.Sum256(s[:])
	bits := append(s[:], sum[0])
	list := make([]string, Words)
	for i := range list {
		n := 0
		for b := i * wordBits; b < (i+1)*wordBits; b++ {
			n = n<<1 | int(bits[b/8]>>(7-b%8)&1)
		}
		list[i] = string([]byte{consonants[n>>7], vowels[n>>5&3], consonants[n>>1&15], lastVowels[n&1]})
	}
	return list
}

// parseWords returns the secret of a sheet. CodeInvalid for other words, naming the first wrong one by its place.
func parseWords(sheet string) (s secret, err error) {
	list := strings.Fields(strings.ToLower(sheet))
	if len(list) != Words {
		return s, memory.Errorf(memory.CodeInvalid, "the sheet has %d words, and %d were typed", Words, len(list)).WithHint("type all words, separated by spaces")
	}
	var bits [secretBytes + 1]byte
	for i, word := range list {
		n, ok := parseWord(word)
		if !ok {
			return s, memory.Errorf(memory.CodeInvalid, "word %d is none of a sheet", i+1).WithHint("a word has four letters, such as \"rido\"")
		}
		for j := range wordBits {
			b := i*wordBits + j
			bits[b/8] |= byte(n>>(wordBits-1-j)&1) << (7 - b%8)
		}
	}
	copy(s[:], bits[:])
	if sum := sha256.Sum256(s[:]); sum[0] != bits[secretBytes] {
		return secret{}, memory.Errorf(memory.CodeInvalid, "the words do not belong together").WithHint("compare each word with the sheet")
	}
	return s, nil
}

func parseWord(word string) (n int, ok bool) {
	if len(word) != 4 {
		return 0, false
	}
	a, b, c, d := strings.IndexByte(consonants, word[0]), strings.IndexByte(vowels, word[1]), strings.IndexByte(consonants, word[2]), strings.IndexByte(lastVowels, word[3])
	return a<<7 | b<<5 | c<<1 | d, min(a, b, c, d) >= 0
}

// key derives a key for a purpose.
func (s secret) key(purpose string) []byte {
	key, _ := hkdf.Key(sha256.New, s[:], nil, "claude-mem devices 1: "+purpose, 32) // fails only for longer keys
	return key
}

// suffix ends the names of files in the folder.
const suffix = ".cm"

// namesKey is the key of the names of an epoch's files.
type namesKey []byte

func (s secret) names() namesKey { return s.key("names") }

// of returns the name of a device's file of a number: it means nothing to who does not have the secret.
func (k namesKey) of(device string, number int) string {
	mac := hmac.New(sha256.New, k)
	_, _ = mac.Write([]byte(device + " " + strconv.Itoa(number))) // a hash returns no error
	return hex.EncodeToString(mac.Sum(nil)[:16]) + suffix
}
