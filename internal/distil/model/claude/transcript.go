package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/openfile"
)

// maxTranscript bounds the part of a transcript that is read. A transcript holds
// each text once and some 600 bytes of metadata an entry, so that a conversation
// within MaxRequestBytes takes a fraction of this.
const maxTranscript = 2 << 20

// projectDir returns the CLI's directory of transcripts for conversations in dir,
// which is absolute and without symbolic links; "" when home is unknown.
func projectDir(environ []string, dir string) string {
	if config := configDir(environ); config != "" {
		return claudedir.Transcripts(config, dir)
	}
	return ""
}

// transcript returns the path of the run's transcript, "" when it is unknown.
func (c *conversation) transcript() string {
	if c.p.projects == "" {
		return ""
	}
	return filepath.Join(c.p.projects, c.id+".jsonl")
}

// removeTranscript deletes the run's transcript if it is a regular file. A failure
// is logged only: the transcript serves nobody but the CLI.
func (c *conversation) removeTranscript() {
	path := c.transcript()
	info, err := os.Lstat(path)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	default:
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.p.opts.Logger.Warn("remove claude transcript", "run", c.run, "error", err)
	}
}

// history describes the conversation in a transcript.
type history struct {
	size    int  // of its texts, in bytes of JSON
	answers int  // of the model
	open    bool // its last prompt has no answer
}

// inspect returns the history in the transcript at path; ok is false when it
// cannot be read.
func inspect(path string) (history, bool) {
	content, info, err := openfile.Beginning(path, maxTranscript)
	if err != nil {
		return history{}, false
	}
	h := parseHistory(content)
	if info.Size() > maxTranscript {
		h.size = int(min(info.Size(), 1<<30)) // too large to fit, whatever it contains
	}
	return h, true
}

// parseHistory parses a transcript's lines and skips those that it cannot parse.
func parseHistory(content []byte) history {
	var h history
	for line := range bytes.Lines(content) {
		var entry struct {
			Type      string `json:"type"`
			Sidechain bool   `json:"isSidechain"`
			Message   struct {
				Model   string          `json:"model"`
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if !decodeLine(line, &entry) || entry.Sidechain {
			continue
		}
		switch {
		case entry.Type == "user":
			h.open = true
		case entry.Type == "assistant" && entry.Message.Model != synthetic:
			h.open = false
			h.answers++
		default:
			continue
		}
		h.size += len(entry.Message.Content)
	}
	return h
}
