package store

import (
	"context"
	"time"

	"claudemem"
)

// Account is what the observer cost and what memory saved, over some days.
type Account struct {
	// PeriodDays is how many local days it covers, today included; Since is where they begin.
	PeriodDays int              `json:"period_days"`
	Since      claudemem.Millis `json:"since_epoch"`
	Today      Spent            `json:"today"`
	Spending
	Saved Saved `json:"saved"`
}

// Saved is what sessions did not have to find out again. It is an estimate: the
// tokens that the work behind the given observations had taken, against the
// tokens of the blocks that gave them.
type Saved struct {
	// Blocks were given to sessions, of TokensGiven tokens.
	Blocks      int `json:"blocks"`
	TokensGiven int `json:"tokens_given"`
	// TokensOfWork were spent on finding out what the blocks told.
	TokensOfWork int `json:"tokens_of_work"`
	// Tokens is the difference, 0 when the blocks were the dearer.
	Tokens int `json:"tokens"`
}

// Account sums up the days that end with that of now, in now's location; days is at least 1.
func (s *Store) Account(ctx context.Context, now time.Time, days int) (Account, error) {
	days = max(days, 1)
	y, m, d := now.Date()
	since := claudemem.MillisOf(time.Date(y, m, d-(days-1), 0, 0, 0, 0, now.Location()))
	account := Account{PeriodDays: days, Since: since}
	var err error
	if account.Spending, err = s.Spending(ctx, since, 0, now.Location()); err != nil {
		return account, err
	}
	for _, day := range account.Days {
		if day.Name == now.Format(time.DateOnly) {
			account.Today = day.Spent
		}
	}
	account.Saved, err = s.saved(ctx, since)
	return account, err
}

func (s *Store) saved(ctx context.Context, since claudemem.Millis) (Saved, error) {
	var sum Saved
	err := s.reader.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM injections WHERE created_at >= ?1),
		(SELECT coalesce(sum(tokens), 0) FROM injections WHERE created_at >= ?1),
		(SELECT coalesce(sum(o.discovery_tokens), 0) FROM injections i, json_each(i.observations) given
			JOIN observations o ON o.id = given.value WHERE i.created_at >= ?1)`, int64(since)).
		Scan(&sum.Blocks, &sum.TokensGiven, &sum.TokensOfWork)
	sum.Tokens = max(0, sum.TokensOfWork-sum.TokensGiven)
	return sum, fault("sum up what was saved", err)
}
