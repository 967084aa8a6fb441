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

// EmptyAccount is the account of days in which nothing was.
func EmptyAccount(now time.Time, days int) Account {
	days = max(days, 1)
	y, m, d := now.Date()
	return Account{
		PeriodDays: days, Since: claudemem.MillisOf(time.Date(y, m, d-(days-1), 0, 0, 0, 0, now.Location())),
		Spending: Spending{Days: []SpentOn{}, Providers: []SpentOn{}, Models: []SpentOn{}, Projects: []SpentOn{}},
	}
}

// Account sums up the days that end with that of now, in now's location; days is at least 1.
func (s *Store) Account(ctx context.Context, now time.Time, days int) (Account, error) {
	account := EmptyAccount(now, days)
	var err error
	if account.Spending, err = s.Spending(ctx, account.Since, 0, now.Location()); err != nil {
		return account, err
	}
	for _, day := range account.Days {
		if day.Name == now.Format(time.DateOnly) {
			account.Today = day.Spent
		}
	}
	account.Saved, err = s.saved(ctx, account.Since)
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
