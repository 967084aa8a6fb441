package httpapi

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// eventBody is an event with the other names that clients use for some of its fields. The
// event's own name wins.
type eventBody struct {
	memory.Event

	Session          string `json:"session"`
	SessionIDAlias   string `json:"session_id"`
	ContentSessionID string `json:"contentSessionId"`
	PlatformSource   string `json:"platformSource"`
	Project          string `json:"project"`
	AgentIDAlias     string `json:"agentId"`
	AgentTypeAlias   string `json:"agentType"`
	ToolUseIDAlias   string `json:"toolUseId"`
}

// maxDeliveryID bounds a client's delivery id, which is kept for ever; ours have 32
// characters.
const maxDeliveryID = 128

// event returns the event of a body: aliases resolved, missing kind, time and delivery
// id filled in, and validated. kinds are those of the route, the first of which is the
// default. CodeInvalid for another kind, a wrong delivery id, or an event that is not valid.
func (a *server) event(body eventBody, kinds []memory.EventKind) (memory.Event, error) {
	e := body.Event
	e.HostSessionID = cmp.Or(e.HostSessionID, body.SessionIDAlias, body.ContentSessionID, body.Session)
	e.Host = cmp.Or(e.Host, memory.Host(body.PlatformSource)).Canonical() // the ingester finds a missing one
	e.AgentID, e.AgentType = cmp.Or(e.AgentID, body.AgentIDAlias), cmp.Or(e.AgentType, body.AgentTypeAlias)
	e.ToolUseID = cmp.Or(e.ToolUseID, body.ToolUseIDAlias)
	switch {
	case e.ProjectPath != "" || body.Project == "":
	case repo.IsAbsolute(body.Project):
		e.ProjectPath = body.Project
	case e.Cwd == "":
		// Known by its name only; the first project of that name adopts it.
		e.ProjectPath = "label:" + body.Project
	}

	if e.Kind = cmp.Or(e.Kind, kinds[0]); !slices.Contains(kinds, e.Kind) {
		return e, memory.Errorf(memory.CodeInvalid, "an event of kind %.40q does not belong on this route", string(e.Kind)).
			WithHint("leave kind out: the route implies " + string(kinds[0]))
	}
	now := a.opts.Clock()
	if e.OccurredAt <= 0 {
		e.OccurredAt = memory.MillisOf(now)
	}
	if len(e.DeliveryID) > maxDeliveryID || strings.ContainsFunc(e.DeliveryID, unicode.IsControl) {
		return e, memory.Errorf(memory.CodeInvalid, "delivery_id is longer than %d characters or holds control characters", maxDeliveryID).
			WithHint("leave it out, or send a random one of 32 hexadecimal digits")
	}
	if e.DeliveryID == "" {
		var random [8]byte
		if _, err := io.ReadFull(a.opts.Random, random[:]); err != nil {
			return e, err
		}
		e.DeliveryID = memory.NewDeliveryID(now, random)
	}
	return e, e.Validate()
}

// receipt is the answer to an event.
type receipt struct {
	Status       string           `json:"status"`
	Reason       string           `json:"reason,omitempty"`
	SessionDBID  memory.SessionID `json:"session_db_id"`
	PromptNumber int              `json:"prompt_number"`
	// AdditionalContext is a text for the model, usually "".
	AdditionalContext string `json:"additional_context,omitempty"`
}

// ingest returns a handler that takes in events of the given kinds, of which the route
// implies the first, and answers with a receipt: 202 when the event is stored, 200 when
// it was skipped or is a duplicate. A flush stores nothing.
func (a *server) ingest(kinds ...memory.EventKind) handler {
	return func(w http.ResponseWriter, r *http.Request, _ []api.Param) error {
		arrived := time.Now() // not opts.Clock: deadlines count from it
		var e memory.Event
		err := a.withBody(w, r, func(raw []byte) error {
			var body eventBody
			if !wire.ParseEvent(raw, &body.Event) { // not from a hook of ours
				body = eventBody{}
				if err := decode(raw, &body); err != nil {
					return err
				}
			}
			var err error
			e, err = a.event(body, kinds)
			return err
		})
		if err != nil {
			return err
		}
		if e.Kind == memory.KindFlush {
			a.Worker.Flush(e.Host, e.HostSessionID)
			return writeJSON(w, http.StatusAccepted, api.Status{Status: "flushing"})
		}
		got, err := a.Ingester.Ingest(r.Context(), e)
		if err != nil {
			return err
		}
		e = got.Event
		answer := receipt{Status: "queued", SessionDBID: got.Session, PromptNumber: got.PromptNumber}
		status := http.StatusAccepted
		if got.Status == memory.StatusSkipped || got.Status == memory.StatusDuplicate {
			status, answer.Status, answer.Reason = http.StatusOK, string(got.Status), got.Reason
		}
		if a.Reminder == nil || status != http.StatusAccepted || e.Moment() == memory.MomentNone {
			return writeJSON(w, status, answer)
		}
		e.ToolResponse = nil // see Reminder
		return a.remind(w, r, arrived, &e, answer)
	}
}
