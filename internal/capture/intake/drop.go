package intake

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"claudemem/internal/capture/redact"
)

// wholeContents names the members in which hosts send a file's content before or
// after an edit. They are dropped: the patch shows what changed.
var wholeContents = map[string]bool{"originalFile": true, "originalFileContents": true, "original_file": true, "updated_file": true}

// minBase64 is the length in bytes from which base64 is dropped as an image.
const minBase64 = 1024

// dropFrom returns a tool's JSON without whole file contents and base64 data, which
// no distiller uses. JSON that is short and has no such name is not parsed.
func dropFrom(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`al_file"`)) && !bytes.Contains(raw, []byte(`ed_file"`)) && // the ends of wholeContents
		!bytes.Contains(raw, []byte(`"originalFile`)) && len(raw) < minBase64 {
		return raw
	}
	out, _ := redact.Each(raw, func(key, text string) string {
		switch {
		case wholeContents[key]:
			return ""
		case (key == "base64" || key == "data") && len(text) >= minBase64 && isBase64(text):
			return "[claude-mem: " + strconv.Itoa(len(text)) + " bytes of base64 left out]"
		}
		return text
	})
	return out
}

// isBase64 reports whether the first minBase64 bytes of text can be base64.
func isBase64(text string) bool {
	return strings.Trim(text[:min(len(text), minBase64)], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_\n\r") == ""
}
