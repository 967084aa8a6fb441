package hook

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// longestTail is how much of the end of a transcript is read, in bytes.
const longestTail = 256 << 10

var (
	errNoAnswer = errors.New("no closing message found in the transcript")
	errOutside  = errors.New("the transcript is not below the home directory")
)

// closing returns the agent's closing message of a turn from the end of its host's transcript, for
// hosts that do not report it: the last text of the agent behind the user's last message. Only a
// regular file below the home directory is read. Who speaks, and the text, are told in the form of VS
// Code and Copilot ("type":"assistant.message", "data":{"content"}), of Claude Code
// ("message":{"role","content"}), or by a bare role and content. The errors: errOutside, errNoAnswer,
// those of openfile.Tail. With last, a message counts only behind the last tool call.
func closing(transcript, home string, last bool) (string, error) {
	name, err := filepath.Rel(home, filepath.FromSlash(transcript))
	if err != nil || home == "" || !filepath.IsLocal(name) {
		return "", errOutside
	}
	tail, err := openfile.Tail(home, name, longestTail)
	if err != nil {
		return "", cause(err)
	}
	for _, line := range slices.Backward(bytes.Split(tail, []byte("\n"))) {
		s, err := shapeOf(line)
		if err != nil { // torn, or no line of JSON
			continue
		}
		text := strings.TrimSpace(s.text("data_content message_content content text"))
		role, _, _ := strings.Cut(s.text("role message_role type"), ".")
		switch {
		case last && role == "tool":
			return "", errNoAnswer
		case text == "":
		case role == "assistant":
			return text, nil
		case role == "user":
			return "", errNoAnswer
		}
	}
	return "", errNoAnswer
}

// transcriptTime is how long a closing message is waited for. Copilot CLI 1.0.102 runs the hook about
// 100 ms before it writes the message into the transcript, and at times before it makes the file.
const transcriptTime = 500 * time.Millisecond

// close fills in the closing message that the host has not reported, from its transcript. Copilot CLI writes
// it a little later, and is waited for; what is left to do gets the same time as without that.
func (r *run) close(p *payload) {
	var err error
	began := time.Now()
	for {
		waiting := r.Host == memory.HostCopilot && time.Since(began) < transcriptTime
		p.event.LastAssistantMessage, err = closing(p.transcript, settings.HomeDir(r.Getenv), waiting)
		if !waiting || !errors.Is(err, errNoAnswer) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
		time.Sleep(2 * pollEvery)
	}
	r.deadline = r.deadline.Add(time.Since(began))
	if err != nil {
		r.log(NotUnderstood, string(r.Host)+": "+err.Error())
	}
}
