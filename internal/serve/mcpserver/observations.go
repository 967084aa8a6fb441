package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// lookupLimit bounds the wait for noting a lookup, which only a statistic needs.
const lookupLimit = 300 * time.Millisecond

// getObservations shows observations in full, in the order asked for, as many as fit, and notes
// those that it shows as read. CodeNotFound if none of them is there.
func getObservations(ctx context.Context, c *call) *answer {
	ids := c.args.ids("ids")
	// Lookup is false: those that are shown are noted below.
	page := ask(ctx, c, api.Memory.Batch, api.BatchRequest{IDs: ids, Format: api.FormatFull, Lookup: new(bool)})
	if memory.CodeOf(c.args.err) == memory.CodeNoMemory {
		c.args.err = memory.Errorf(memory.CodeNotFound, "there is no observation %s: nothing is remembered yet", numbers(ids))
	}
	a := newAnswer("observations")
	var shown, left []memory.ObservationID
	for i := range page.Results {
		r := &page.Results[i]
		if len(left) == 0 && a.offerTruncated(8000, 250, func(most int) (string, any) {
			text, item := c.fullRecord(r, most)
			return text + "\n", item
		}) {
			shown = append(shown, r.ID)
		} else {
			left = append(left, r.ID)
		}
	}
	if len(shown) == 0 {
		return c.refused(memory.Errorf(memory.CodeNotFound, "there is no observation %s", numbers(page.Missing)).
			WithHint("search_memory finds those that there are"))
	}
	a.say("%s:", text.Count(len(shown), "observation"))
	if len(page.Missing) > 0 {
		a.tail("Not there, or hidden: %s.", numbers(page.Missing))
	}
	if len(left) > 0 {
		a.tail("Next: %s did not fit: get_observations(ids: [%s]).", text.Count(len(left), "observation"), csv(left))
	}
	note := api.LookupNote{Observations: shown}
	if host, session, named := strings.Cut(c.session, ":"); named && host != "" {
		note.Host, note.HostSessionID = memory.Host(host), session
	}
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	_, _ = c.server.memory.NoteLookups(ctx, note) // it is not worth an error
	return a
}

// csv joins numbers with commas.
func csv(ids []memory.ObservationID) string {
	return strings.Join(collect.Map(ids, func(id memory.ObservationID) string { return strconv.FormatInt(int64(id), 10) }), ", ")
}

// numbers lists observations as #12, #13, at most 20 of them.
func numbers(ids []memory.ObservationID) string {
	const few = 20
	text := strings.Join(collect.Map(ids[:min(len(ids), few)], memory.ObservationID.Name), ", ")
	if len(ids) > few {
		text += fmt.Sprintf(" and %d more", len(ids)-few)
	}
	return text
}

// maxNote bounds a memory, in bytes: an answer can show all of it.
const maxNote = 8000

// saveMemory adds an observation of the agent's, in the project of the call. It says if a part of the
// text was not kept; of the title it does not. Nothing is stored after a wrong argument, and the same
// text again is the same observation.
func saveMemory(ctx context.Context, c *call) *answer {
	content := c.args.text("text")
	switch {
	case content == "":
		return c.refused(memory.Errorf(memory.CodeInvalid, "no text").WithHint("send text, what is to be remembered"))
	case len(content) > maxNote:
		return c.refused(memory.Errorf(memory.CodeTooLarge, "the text has %d bytes", len(content)).WithHint("at most " + strconv.Itoa(maxNote) + "; save what matters of it, or several memories"))
	}
	note := api.NewObservation{Narrative: content, Title: c.args.short("title"), Type: c.args.short("type"),
		Project: c.project(ctx), Origin: memory.OriginAgent}
	if note.Project == "" {
		return c.refused(memory.Errorf(memory.CodeInvalid, "no project").WithHint("name the project that it is about by its directory or name; known: " + c.known(ctx)))
	}
	kept := ask(ctx, c, api.Memory.AddObservation, note).Whole()
	a, entry := newAnswer(""), kept.Entry()
	a.set("id", entry.Name())
	a.set("project", line(kept.Project, 60))
	a.say("Saved as %s (%s) in %s.", entry.Name(), line(string(kept.Type), 40), line(kept.Project, 60))
	if text.PlainLines(kept.Narrative) != text.PlainLines(content) {
		a.tail("What looked like a secret, or was private, was not kept.")
	}
	a.tail("forget_memory(ids: [%d]) takes it back.", kept.ID)
	return a
}

// judgeMemory stores what the agent thinks of a record that it was given. CodeNotFound for a record that is not there.
func judgeMemory(ctx context.Context, c *call) *answer {
	j := ask(ctx, c, api.Memory.Judge, api.Judgement{Record: c.args.short("record"), Verdict: c.args.short("verdict"), Origin: memory.OriginAgent})
	a := newAnswer("")
	a.set("record", j.Record)
	a.set("verdict", j.Verdict)
	a.say("Noted: %s %s.", j.Record, map[string]string{"up": "helped", "down": "misled", "none": "has no verdict of yours"}[j.Verdict])
	return a
}

// forgetMemory hides observations, or with undo restores them, one after the other: an error leaves
// those before it done, and names them. CodeNotFound if none of them is there.
func forgetMemory(ctx context.Context, c *call) *answer {
	ids, undo := c.args.ids("ids"), c.args.flag("undo")
	if c.args.err != nil {
		return nil
	}
	var done, missing []memory.ObservationID
	for _, id := range ids {
		var err error
		if undo {
			_, err = c.server.memory.RestoreObservation(ctx, api.RestoreRequest{ID: id})
		} else {
			_, err = c.server.memory.HideObservation(ctx, api.HideRequest{ID: id}) // only people erase
		}
		switch {
		case err == nil:
			done = append(done, id)
		case memory.CodeOf(err) == memory.CodeNotFound:
			missing = append(missing, id)
		default:
			if known, ok := errors.AsType[*memory.Error](err); ok && len(done) > 0 {
				err = memory.Errorf(known.Code, "%s; done before that: %s", known.Message, numbers(done)).WithHint(known.Hint)
			}
			return c.refused(err)
		}
	}
	if len(done) == 0 {
		return c.refused(memory.Errorf(memory.CodeNotFound, "there is no observation %s", numbers(missing)).WithHint("search_memory finds those that there are; hidden ones come back with undo: true"))
	}
	a := newAnswer("")
	a.set("ids", done)
	a.set("hidden", !undo)
	if undo {
		a.say("Back again: %s.", numbers(done))
	} else {
		a.say("Hidden: %s. They are not erased; no search finds them.", numbers(done))
		a.tail("forget_memory(ids: [%s], undo: true) brings back.", csv(done))
	}
	if len(missing) > 0 {
		a.tail("Not there: %s.", numbers(missing))
	}
	return a
}
