package devices

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/bits"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"
)

// Bounds of a file: in the folder, unpacked, and of a line in it.
const (
	maxFile     = 64 << 20
	maxUnpacked = 256 << 20
	maxLine     = 8 << 20
)

// Header is the first line in a file.
type Header struct {
	Memory string `json:"memory"`
	Device string `json:"device"`
	// Label is what people call the device.
	Label  string `json:"label,omitempty"`
	Epoch  int    `json:"epoch"`
	Number int    `json:"number"`
	// Previous is the hash of the device's file before.
	Previous string `json:"previous,omitempty"`
	// Live are the numbers of the device's files that count, this one too: it has replaced the others.
	Live []int `json:"live"`
	// Vector has the last file of each other device up to which this one has taken all in, Missing those
	// after which it has seen others.
	Vector  map[string]int   `json:"vector,omitempty"`
	Missing map[string][]int `json:"missing,omitempty"`
	// Retired are devices with the number of their last file that counts.
	Retired map[string]int `json:"retired,omitempty"`
	// Closed are the devices of the epoch before, with the number of the last file of it that counts.
	Closed  map[string]int `json:"closed,omitempty"`
	Records int            `json:"records"`
}

// stanza is the type of the recipients of our age files: the file's key is encrypted with a key of the epoch.
const stanza = "claude-mem-devices"

// wrapping implements age.Recipient and age.Identity for an epoch.
type wrapping struct{ key []byte }

// Wrap implements age.Recipient.
func (w wrapping) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	aead, err := chacha20poly1305.NewX(w.key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return []*age.Stanza{{Type: stanza, Args: []string{hex.EncodeToString(nonce)}, Body: aead.Seal(nil, nonce, fileKey, nil)}}, nil
}

// Unwrap implements age.Identity.
func (w wrapping) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(w.key)
	if err != nil {
		return nil, err
	}
	for _, s := range stanzas {
		if s.Type != stanza || len(s.Args) != 1 {
			continue
		}
		nonce, err := hex.DecodeString(s.Args[0])
		if err != nil || len(nonce) != aead.NonceSize() {
			continue
		}
		if key, err := aead.Open(nil, nonce, s.Body, nil); err == nil {
			return key, nil
		}
	}
	return nil, age.ErrIncorrectIdentity
}

// signed is what a signature is of, before the body.
const signed = "claude-mem devices file 1\n"

// The content of a file, encrypted, begins with the size of the body, the public key and the signature; after
// the body come zeros.
const headBytes = 4 + ed25519.PublicKeySize + ed25519.SignatureSize

// padded returns the size to which a content is padded, at most 12 % more: of Padmé, so that few sizes differ.
func padded(size int) int {
	if size < 2 {
		return size
	}
	e := bits.Len(uint(size)) - 1
	s := bits.Len(uint(e))
	if e <= s {
		return size
	}
	mask := 1<<(e-s) - 1
	return (size + mask) &^ mask
}

// deviceOf returns the name of the device with a public key.
func deviceOf(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// seal returns a file with states of records.
func seal(s secret, key ed25519.PrivateKey, h *Header, states []memory.Shared) ([]byte, error) {
	var body bytes.Buffer
	packed := gzip.NewWriter(&body)
	lines := json.NewEncoder(packed)
	lines.SetEscapeHTML(false)
	h.Records = len(states)
	err := lines.Encode(h)
	for i := range states {
		err = errors.Join(err, lines.Encode(&states[i]))
	}
	if err = errors.Join(err, packed.Close()); err != nil {
		return nil, err
	}
	content := make([]byte, padded(headBytes+body.Len()))
	binary.BigEndian.PutUint32(content, uint32(body.Len())) //nolint:gosec // a page of records
	copy(content[4:], key.Public().(ed25519.PublicKey))
	copy(content[4+ed25519.PublicKeySize:], ed25519.Sign(key, append([]byte(signed), body.Bytes()...)))
	copy(content[headBytes:], body.Bytes())
	var file bytes.Buffer
	to, err := age.Encrypt(&file, wrapping{s.key("encryption")})
	if err == nil {
		_, err = to.Write(content)
		err = errors.Join(err, to.Close())
	}
	return file.Bytes(), err
}

// errForeign is the error of a file that the secret does not open: of another memory, changed, or cut.
var errForeign = errors.New("it was changed, is not whole, or belongs to another memory")

func bad(what string) error { return memory.Errorf(memory.CodeInvalid, "%s", what) }

// opened is a file whose signature is right.
type opened struct {
	Header
	lines *text.Lines
}

// open opens a file. errForeign if it cannot be decrypted; CodeInvalid if what is in it was not written by the device that it
// names.
func open(s secret, file []byte) (*opened, error) {
	from, err := age.Decrypt(bytes.NewReader(file), wrapping{s.key("encryption")})
	if err != nil {
		return nil, errForeign
	}
	content, err := io.ReadAll(from)
	if err != nil || len(content) < headBytes {
		return nil, errForeign
	}
	size := int(binary.BigEndian.Uint32(content))
	if size > len(content)-headBytes {
		return nil, bad("its size is wrong")
	}
	key, signature, body := ed25519.PublicKey(content[4:4+ed25519.PublicKeySize]), content[4+ed25519.PublicKeySize:headBytes], content[headBytes:headBytes+size]
	if !ed25519.Verify(key, append([]byte(signed), body...), signature) {
		return nil, bad("its signature is wrong")
	}
	packed, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, bad("it cannot be unpacked")
	}
	o := &opened{lines: text.NewLines(bufio.NewReader(io.LimitReader(packed, maxUnpacked)), maxLine)}
	line, long, err := o.lines.Next()
	if err != nil || long || json.Unmarshal(line, &o.Header) != nil {
		return nil, bad("its header cannot be read")
	}
	if o.Device != deviceOf(key) {
		return nil, bad("it is signed with the key of another device than the one it names")
	}
	if o.Number < 1 || o.Records < 0 || len(o.Live) > 1<<16 {
		return nil, bad("its header is impossible")
	}
	return o, nil
}

// states returns the records of a file: all of them, or an error.
func (o *opened) states() (list []memory.Shared, err error) {
	for {
		line, long, err := o.lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var r memory.Shared
		if err != nil || long || json.Unmarshal(line, &r) != nil || len(list) == o.Records {
			return nil, bad("a record in it cannot be read")
		}
		list = append(list, r)
	}
	if len(list) != o.Records {
		return nil, bad("it is not whole")
	}
	return list, nil
}

func hashOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:16])
}
