package store

import (
	"context"
	"time"

	"claudemem/internal/memory"
)

// Account sums up what the observer cost and what memory saved in a number of days.
type Account struct {
	// PeriodDays is the number of local days, today included; Since is their begin.
	PeriodDays int           `json:"period_days"`
	Since      memory.Millis `json:"since_epoch"`
	Today      Spent         `json:"today"`
	Spending
	Saved Saved `json:"saved"`
}

// Saved estimates the tokens that sessions saved because they were given memory: the
// tokens that the work behind the given observations had taken, against the
// tokens that giving them took.
type Saved struct {
	// Blocks were given to sessions at their start, of TokensGiven tokens.
	Blocks      int `json:"blocks"`
	TokensGiven int `json:"tokens_given"`
	// Recollections were given beside prompts, files and failures, of TokensRecalled tokens.
	Recollections  int `json:"recollections"`
	TokensRecalled int `json:"tokens_recalled"`
	// TokensOfWork is what the work behind the given observations had cost.
	TokensOfWork int `json:"tokens_of_work"`
	// Tokens is the difference, at least 0.
	Tokens int `json:"tokens"`
}

// EmptyAccount returns the account of the days up to now without any call.
func EmptyAccount(now time.Time, days int) Account {
	days = max(days, 1)
	y, m, d := now.Date()
	return Account{
		PeriodDays: days, Since: memory.MillisOf(time.Date(y, m, d-(days-1), 0, 0, 0, 0, now.Location())),
		Spending: Spending{Days: []SpentOn{}, Providers: []SpentOn{}, Models: []SpentOn{}, Projects: []SpentOn{}},
	}
}

// Account sums up the days that end with that of now, in now's location; days is at least 1.
func (s *Store) Account(ctx context.Context, now time.Time, days int) (Account, error) {
	account := EmptyAccount(now, days)
	var err error
	if account.Spending, err = s.Spending(ctx, account.Since, now.Location()); err != nil {
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

// saved sums up the context given since a time, blocks at session starts apart from the
// rest, and the tokens that its observations had cost. What it saved is that cost less
// the tokens given, at least 0.
func (s *Store) saved(ctx context.Context, since memory.Millis) (Saved, error) {
	var sum Saved
	err := s.reader.QueryRowContext(ctx, `SELECT
		count(*) FILTER (WHERE hook_event = ?2), coalesce(sum(tokens) FILTER (WHERE hook_event = ?2), 0),
		count(*) FILTER (WHERE hook_event <> ?2), coalesce(sum(tokens) FILTER (WHERE hook_event <> ?2), 0),
		(SELECT coalesce(sum(o.discovery_tokens), 0) FROM observations o WHERE o.id IN
			(SELECT given.value FROM injections i, json_each(i.observations) given WHERE i.created_at >= ?1))
		FROM injections WHERE created_at >= ?1`, int64(since), sessionStart).
		Scan(&sum.Blocks, &sum.TokensGiven, &sum.Recollections, &sum.TokensRecalled, &sum.TokensOfWork)
	sum.Tokens = max(0, sum.TokensOfWork-sum.TokensGiven-sum.TokensRecalled)
	return sum, fault("sum up what was saved", err)
}
