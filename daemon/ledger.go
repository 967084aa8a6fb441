package daemon

import (
	"context"

	"claudemem"
	"claudemem/model"
	"claudemem/settings"
	"claudemem/store"
)

// ledger is model.Ledger on the store's.
type ledger struct{ store *store.Ledger }

func (l ledger) Reserve(ctx context.Context, r model.Reservation) (int64, error) {
	return l.store.Reserve(ctx, claudemem.ModelReservation(r))
}

func (l ledger) Settle(ctx context.Context, id int64, s model.Settlement) error {
	return l.store.Settle(ctx, id, claudemem.ModelSettlement(s))
}

// caps are those of the settings as they stand.
func (l *live) caps() store.Caps {
	s, _ := l.get()
	return store.Caps{Day: s.Int(settings.KeyDailyTokenCap), Session: s.Int(settings.KeySessionTokenCap)}
}
