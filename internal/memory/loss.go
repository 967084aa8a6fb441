package memory

// A Loss is one event that neither the worker nor a hook could keep.
type Loss struct {
	// DeliveryID is "" for an event that was lost before it had one.
	DeliveryID string
	At         Millis
	// Worker says why the worker did not take the event, "" if it was not asked, and Hook
	// why the hook could not keep it.
	Worker, Hook string
}

// A LossRecord counts losses in one place.
type LossRecord struct {
	// ID identifies the record: one that was deleted and made anew has another.
	ID string
	// Count is the number of losses; it only grows.
	Count int64
	// Recent counts the losses from First to Last: those without a pause of a day.
	Recent      int64
	First, Last Millis
	// Worker and Hook are the reasons of the last loss.
	Worker, Hook string
	// Deliveries are the delivery ids of the last losses, at most 1,000, the oldest first,
	// "" for one that had none.
	Deliveries []string
}

// Reasons returns why the last event was lost, as the end of a sentence; there was one.
func (r *LossRecord) Reasons() string {
	hook := "the hook could not keep it (" + r.Hook + ")"
	if r.Worker == "" {
		return hook
	}
	return "the worker did not take it (" + r.Worker + "), and " + hook
}
