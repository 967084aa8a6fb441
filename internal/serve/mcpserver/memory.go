package mcpserver

import (
	"context"
	"errors"
	"strconv"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// maxNote bounds a memory, in bytes: an answer can show all of it.
const maxNote = 8000

// saveMemory adds an observation.
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

// forgetMemory hides observations, or with undo restores them.
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
