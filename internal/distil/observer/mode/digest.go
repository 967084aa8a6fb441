package mode

import (
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Limits of a digest.
const (
	// digestFull bounds the newest observations shown in full, digestSummaries the
	// newest summaries; other observations are a line each.
	digestFull      = 8
	digestSummaries = 3
	// digestField bounds a field of a record, digestTitle a line's title, in bytes.
	digestField = 600
	digestTitle = 160
	digestFiles = 4
)

// Digest returns the records of the session so far for the beginning of a new run:
// every observation as a line, the newest in full as far as there is room, and the
// latest checkpoints. It has at most limitTokens (estimated). If not even the
// lines fit, it leaves out lines from the middle: the first show the session's
// subject, the last its state. It is "" without records or room.
func Digest(observations []memory.Observation, summaries []memory.Summary, limitTokens int) string {
	frame := render("digest.md", map[string]string{"records": ""})
	room := limitTokens - memory.EstimateTokens(frame) - 2 // roundings
	if room <= 0 {
		return ""
	}
	// The checkpoints may take a third.
	checkpoints, used := digestCheckpoints(summaries, room/3)
	lines := digestLines(observations, room-used)
	records := strings.Join(append(lines, checkpoints...), "")
	if records == "" {
		return ""
	}
	return render("digest.md", map[string]string{"records": records})
}

// digestLines returns a line for each observation, the newest in full as far as room (in
// tokens) allows. If even the lines exceed it, some are left out.
func digestLines(observations []memory.Observation, room int) []string {
	lines := make([]string, len(observations))
	total := 0
	for i := range observations {
		lines[i] = observationLine(&observations[i])
		total += memory.EstimateTokens(lines[i])
	}
	if total > room {
		return thinOut(lines, room)
	}
	for i := len(observations) - 1; i >= 0 && i >= len(observations)-digestFull; i-- {
		full := observationFull(&observations[i])
		if more := memory.EstimateTokens(full) - memory.EstimateTokens(lines[i]); total+more <= room {
			lines[i] = full
			total += more
		}
	}
	return lines
}

// thinOut returns the first lines, for a quarter of the room (in tokens), and the last ones, with a
// line that says how many are left out; nil if not one fits.
func thinOut(lines []string, room int) []string {
	room -= memory.EstimateTokens(leftOut(len(lines)))
	first, head := 0, room/4
	for first < len(lines) && memory.EstimateTokens(lines[first]) <= head {
		head -= memory.EstimateTokens(lines[first])
		room -= memory.EstimateTokens(lines[first])
		first++
	}
	last := len(lines)
	for last > first && memory.EstimateTokens(lines[last-1]) <= room {
		room -= memory.EstimateTokens(lines[last-1])
		last--
	}
	if room < 0 || last == first {
		return nil
	}
	return slices.Concat(lines[:first], []string{leftOut(last - first)}, lines[last:])
}

func leftOut(n int) string { return fmt.Sprintf("[%d more are left out here]\n", n) }

// observationLine returns "- type: title (files)".
func observationLine(o *memory.Observation) string {
	text := "- " + oneLine(string(o.Type), maxKey) + ": " + oneLine(o.Title, digestTitle)
	if files := fileList(o); files != "" {
		text += " (" + files + ")"
	}
	return text + "\n"
}

// observationFull returns the line of an observation with its narrative and its first
// five facts below.
func observationFull(o *memory.Observation) string {
	text := observationLine(o)
	if s := oneLine(o.Narrative, digestField); s != "" {
		text += "  " + s + "\n"
	}
	for _, f := range o.Facts[:min(len(o.Facts), 5)] {
		text += "  * " + oneLine(f, digestField/2) + "\n"
	}
	return text
}

// fileList lists an observation's files once each, the modified ones first.
func fileList(o *memory.Observation) string {
	var names []string
	for _, path := range append(o.FilesIn(memory.FileModified), o.FilesIn(memory.FileRead)...) {
		names = text.Add(names, oneLine(path, digestTitle))
	}
	if len(names) > digestFiles {
		names = append(names[:digestFiles], "…")
	}
	return strings.Join(names, ", ")
}

// digestCheckpoints returns the latest summaries that fit, the oldest first.
func digestCheckpoints(summaries []memory.Summary, room int) (texts []string, used int) {
	for i := len(summaries) - 1; i >= 0 && len(texts) < digestSummaries; i-- {
		s := &summaries[i]
		text := fmt.Sprintf("- checkpoint of request %d: %s\n", s.PromptNumber, oneLine(s.Request, digestField))
		for _, f := range []struct{ name, text string }{
			{"learned", s.Learned}, {"completed", s.Completed}, {"next steps", s.NextSteps},
		} {
			if t := oneLine(f.text, digestField); t != "" {
				text += "  " + f.name + ": " + t + "\n"
			}
		}
		if used+memory.EstimateTokens(text) > room {
			break
		}
		used += memory.EstimateTokens(text)
		texts = append(texts, text)
	}
	slices.Reverse(texts)
	return texts, used
}
