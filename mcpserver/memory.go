package mcpserver

import (
	"context"
	"errors"
	"strconv"

	"claudemem"
	"claudemem/api"
)

// maxNote is how long a memory may be, in bytes: what one answer can show.
const maxNote = 8000

// saveMemory writes an observation down.
func saveMemory(ctx context.Context, c *call) (*answer, error) {
	text, err := c.args.text("text", "narrative", "content", "memory")
	if err != nil {
		return nil, err
	}
	switch {
	case text == "":
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "no text").WithHint("send text, what is to be remembered")
	case len(text) > maxNote:
		return nil, claudemem.Errorf(claudemem.CodeTooLarge, "the text has %d bytes", len(text)).WithHint("at most " + strconv.Itoa(maxNote) + "; save what matters of it, or several memories")
	}
	title, err := c.args.short("title")
	if err != nil {
		return nil, err
	}
	kind, err := c.args.short("type", "obs_type")
	if err != nil {
		return nil, err
	}
	project, err := c.project(ctx, c.here)
	if err != nil {
		return nil, err
	}
	if project == "" {
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "no project").WithHint("name the project that it is about by its directory or name; known: " + c.known(ctx))
	}
	kept, err := c.server.memory.AddObservation(ctx, api.NewObservation{Narrative: text, Title: title, Type: kind, Project: project, Origin: claudemem.OriginAgent})
	if err != nil {
		return nil, err
	}
	a, entry := newAnswer(""), kept.Entry()
	a.set("id", entry.Name())
	a.set("project", line(kept.Project, 60))
	a.say("Saved as %s (%s) in %s.", entry.Name(), line(string(kept.Type), 40), line(kept.Project, 60))
	if plainLines(kept.Narrative) != plainLines(text) {
		a.tail("What looked like a secret, or was private, was not kept.")
	}
	a.tail("forget_memory(ids: [%d]) takes it back.", kept.ID)
	return a, nil
}

// forgetMemory hides observations, or brings them back.
func forgetMemory(ctx context.Context, c *call) (*answer, error) {
	ids, err := c.args.ids("ids", "id", "observation_ids", "observations")
	if err != nil {
		return nil, err
	}
	undo, err := c.args.flag("undo", "restore")
	if err != nil {
		return nil, err
	}
	var done, missing []claudemem.ObservationID
	for _, id := range ids {
		if undo {
			_, err = c.server.memory.RestoreObservation(ctx, id)
		} else {
			_, err = c.server.memory.HideObservation(ctx, id, false) // erasing is for people
		}
		switch {
		case err == nil:
			done = append(done, id)
		case claudemem.CodeOf(err) == claudemem.CodeNotFound:
			missing = append(missing, id)
		default:
			return nil, stopped(err, done)
		}
	}
	if len(done) == 0 {
		return nil, claudemem.Errorf(claudemem.CodeNotFound, "there is no observation %s", numbers(missing)).WithHint("search_memory finds those that there are; hidden ones come back with undo: true")
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
	return a, nil
}

// stopped says what was done before an error.
func stopped(err error, done []claudemem.ObservationID) error {
	var known *claudemem.Error
	if len(done) == 0 || !errors.As(err, &known) {
		return err
	}
	return claudemem.Errorf(known.Code, "%s; done before that: %s", known.Message, numbers(done)).WithHint(known.Hint)
}
