package intake

import (
	"sync"

	"claudemem/internal/memory"
)

// Two registrations of the hooks report an event twice. Without an id of its host the two are one if
// they have the same content in the same session within sameEvent; the last maxRecent are compared.
const (
	sameEvent = memory.Millis(2000)
	maxRecent = 256
)

// recent remembers the last events that their hosts gave no id.
type recent struct {
	mu     sync.Mutex
	events [maxRecent]struct {
		content    string
		deliveryID string
		at         memory.Millis
	}
	next int
}

// key returns the key of an event: that of its first delivery.
func (r *recent) key(e *memory.Event) string {
	if e.Backfill != "" || e.Kind == memory.KindFlush || e.Kind == memory.KindTool && e.ToolUseID != "" || e.Kind != memory.KindTool && e.PromptID != "" {
		return eventKey(e)
	}
	content := digest(string(e.Kind) + "\x00" + sessionOf(e) + "\x00" + e.AgentID + "\x00" + e.Prompt + "\x00" + e.ToolName + "\x00" + string(e.ToolInput) + "\x00" +
		string(e.ToolResponse) + "\x00" + e.ToolError + "\x00" + e.LastAssistantMessage + "\x00" + e.Reason)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.events {
		if known.content == content && max(known.at-e.OccurredAt, e.OccurredAt-known.at) <= sameEvent {
			first := *e
			first.DeliveryID, first.OccurredAt = known.deliveryID, known.at
			return eventKey(&first)
		}
	}
	event := &r.events[r.next%maxRecent]
	event.content, event.deliveryID, event.at = content, e.DeliveryID, e.OccurredAt
	r.next++
	return eventKey(e)
}
