package hook

import (
	"cmp"
	"io"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/text/runes"
	"claudemem/internal/memory"
)

// statuslineTime is how long a status line may take from the start of the process:
// the host redraws it while the user types.
const statuslineTime = 100 * time.Millisecond

// largestStatus bounds the input of a status line; hosts send about 2 KB.
const largestStatus = 1 << 20

// statusline prints the worker's status of the session in one short line, an empty one if all
// figures are 0. Without a worker it prints nothing; it starts none and writes no file.
func (r *run) statusline() {
	input, err := readInput(r.Stdin, largestStatus)
	if err != nil || r.DataDir == "" {
		return
	}
	request, ok := r.statusRequest(input)
	if !ok {
		return
	}
	client := wire.Client{Address: wire.Find(r.DataDir, r.Getenv), Deadline: r.deadline}
	resp, err := client.Get(wire.StatuslineTarget(&request))
	if err != nil || resp.Status != 200 {
		return
	}
	if line, err := wire.ParseStatusline(resp.Body); err == nil {
		_, _ = io.WriteString(r.Stdout, statuslineText(line)+"\n") // the host has stopped reading
	}
}

// statusRequest parses the JSON that a host sends to its status line command; false if
// it names no session. With a path that is too long the project stays "".
func (r *run) statusRequest(input []byte) (memory.StatusRequest, bool) {
	request := memory.StatusRequest{Host: r.Host}
	var cwd, current, projectDir string
	var workspace []byte
	err := jsonscan.Decode(input, map[string]any{"session_id": &request.HostSessionID, "cwd": &cwd, "workspace": &workspace})
	_ = jsonscan.Decode(workspace, map[string]any{"current_dir": &current, "project_dir": &projectDir}) // not an object: no directories in it
	if err != nil || request.HostSessionID == "" || len(request.HostSessionID) > longestName {
		return request, false
	}
	cwd = cmp.Or(cwd, current)
	if len(cwd) <= longestPath && len(projectDir) <= longestPath {
		request.ProjectPath = repo.Identify(projectDir, cwd).Project
	}
	return request, true
}

// longestTrouble bounds the worker's word for a fault, in bytes.
const longestTrouble = 40

// statuslineText returns the fields that are not zero, as in "mem ○ 3 obs · queue 2 ·
// 1.2k tok today"; "" when all are. Trouble and a reached cap come first, with "!" for
// "○".
func statuslineText(line memory.Statusline) string {
	trouble := strings.NewReplacer("\n", "", "\t", "").Replace(runes.Safe(runes.FirstBytes(line.Trouble, longestTrouble)))
	sign := "○"
	var parts []string
	if trouble != "" {
		sign = "!"
		parts = append(parts, trouble)
	}
	if line.Cap != "" {
		sign = "!"
		parts = append(parts, "cap reached")
	}
	if line.Observations > 0 {
		parts = append(parts, strconv.Itoa(line.Observations)+" obs")
	}
	if line.Pending > 0 {
		parts = append(parts, "queue "+strconv.Itoa(line.Pending))
	}
	if line.TokensToday > 0 {
		parts = append(parts, short(line.TokensToday)+" tok today")
	}
	if len(parts) == 0 {
		return ""
	}
	return "mem " + sign + " " + strings.Join(parts, " · ")
}

// short returns 1234 as 1.2k and 1234567 as 1.2M, rounded down; from 100k and 100M on without a
// fraction. n is not negative.
func short(n int) string {
	unit, letter := 1000, "k"
	if n >= 1_000_000 {
		unit, letter = 1_000_000, "M"
	}
	switch {
	case n < unit:
		return strconv.Itoa(n)
	case n < 100*unit:
		return strconv.Itoa(n/unit) + "." + strconv.Itoa(n%unit/(unit/10)) + letter
	}
	return strconv.Itoa(n/unit) + letter
}
