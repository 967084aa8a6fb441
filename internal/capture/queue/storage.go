package queue

import (
	"context"

	"claudemem/internal/memory"
)

// Storage keeps the queue. Every method is one transaction; after a nil error
// its effect survives kill -9 and power loss. The store implements it, and fakeStorage in the
// tests, for fake time and for a store that fails.
type Storage interface {
	// Enqueue books arrivals in order and returns a receipt for each. It dedupes
	// by event key and by delivery id, opens unknown sessions, numbers prompts,
	// stores prompts and session ends at once, and keeps the payload of tools
	// and stops as pending work. Concurrent calls share a commit.
	Enqueue(ctx context.Context, arrivals ...memory.Arrival) ([]memory.Receipt, error)
	// Backlog lists the sessions that have pending events.
	Backlog(ctx context.Context, now memory.Millis) ([]memory.Backlog, error)
	// Claim marks up to limit due events of a session, the oldest first and
	// without a gap, as processing. No events means that another claimer has
	// them, or that the oldest is not due.
	Claim(ctx context.Context, claimer string, session memory.SessionID, limit int, now memory.Millis) (memory.Claim, error)
	// Confirm stores the outcome, books the claim's events as processed and
	// deletes their payloads. It fails with CodeConflict, storing nothing, when
	// any of the events is no longer held by the claim's claimer.
	Confirm(ctx context.Context, claim memory.Claim, outcome memory.Outcome) error
	// Release gives claimed events back as pending, not due before notBefore;
	// attempts are counted when counted is true.
	Release(ctx context.Context, claim memory.Claim, cause string, counted bool, notBefore memory.Millis) error
	// Hasten makes pending events that wait for a retry due now and returns how many.
	Hasten(ctx context.Context) (int, error)
	// Bury books the claim's events as failed and keeps their payloads.
	Bury(ctx context.Context, claim memory.Claim, cause string) error
	// Skip books the claim's events as skipped for a reason and deletes their payloads.
	Skip(ctx context.Context, claim memory.Claim, reason string) error
	// Heal makes events pending again that were claimed before the given time by
	// none of the live claimers, and returns how many.
	Heal(ctx context.Context, claimedBefore memory.Millis, live []string) (int, error)
	// Revive makes the named buried events pending again, all when none are named.
	Revive(ctx context.Context, keys ...string) (int, error)
	// Interrupt marks active sessions without activity since the given time as interrupted.
	Interrupt(ctx context.Context, idleSince memory.Millis) (int, error)
}
