package intake

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"claudemem/internal/capture/redact/rules"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/memory"
)

// maxID is the length in bytes above which the ids of hosts and clients are hashed.
const maxID = 256

// maxKeyed is how many bytes of a message's head its key is made of: truncation
// leaves them as they are.
const maxKeyed = 16 << 10

// safeName returns an id as it is kept: one that holds a secret or a tag or is too long is
// replaced by its hash, which stays different for different ids.
func safeName(id string) string {
	if len(id) <= maxID && tags.Strip(id) == id {
		if _, counts := rules.Text(id); counts == nil {
			return id
		}
	}
	return hashed(id)
}

// digest returns 32 hexadecimal digits of the SHA-256 of s.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// keyPart returns a part of a key that another part follows: as it is, or hashed
// when it holds the separator. What comes last in a key needs no such care, and
// ids of subagents ("agent:ID") stay as they are in the books.
func keyPart(s string) string {
	if strings.Contains(s, ":") {
		return hashed(s)
	}
	return s
}

// hashed returns the name that is kept in place of an id.
func hashed(id string) string { return "hashed-" + digest(id) }

// eventKey returns what makes two deliveries the same event. It is computed from
// the event as it is stored, whatever was cut or masked on its way. Where the host has named
// the event the delivery does not count, so that a hook and a later import agree.
func eventKey(e *memory.Event) string {
	session := ":" + keyPart(string(e.Host)) + ":" + keyPart(e.HostSessionID) + ":"
	switch e.Kind {
	case memory.KindTool:
		return "tool" + session + cmp.Or(e.ToolUseID, e.DeliveryID)
	case memory.KindPrompt:
		return "prompt" + session + cmp.Or(e.PromptID, e.DeliveryID)
	case memory.KindStop:
		return "stop" + session + cmp.Or(e.PromptID, e.DeliveryID) + ":" + digest(e.LastAssistantMessage[:min(len(e.LastAssistantMessage), maxKeyed)])
	case memory.KindSessionEnd:
		return "end" + session + e.Reason + ":" + strconv.FormatInt(int64(e.OccurredAt), 10)
	}
	return string(e.Kind) + session + e.DeliveryID
}
