package accounts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Spending sums up model calls by day, provider, model and project. Days are in
// order of time, the others by their tokens, the most first.
type Spending struct {
	Total     Spent     `json:"total"`
	Days      []SpentOn `json:"days"`
	Providers []SpentOn `json:"providers"`
	Models    []SpentOn `json:"models"`
	Projects  []SpentOn `json:"projects"`
}

// quarter divides the days of every time zone evenly.
const quarter = 15 * time.Minute

// Spending sums up llm_calls from since on, by when each call began; days are those of a
// location. Calls of no session count for the project "".
func (s *Accounts) Spending(ctx context.Context, since memory.Millis, location *time.Location) (sum Spending, err error) {
	defer db.Wrap(&err, "sum up model calls")
	days, providers, projects := map[string]*SpentOn{}, map[string]*SpentOn{}, map[string]*SpentOn{}
	models := map[string]*SpentOn{}
	var at int64
	var provider, model, project string
	var p Spent
	for range db.Select(ctx, s.Reader, &err, `SELECT c.started_at / ?1, c.provider, c.model, coalesce(s.project, ''), `+spentColumns+`
		FROM llm_calls c LEFT JOIN sessions s ON s.id = c.session_id
		WHERE c.started_at >= ?2 GROUP BY 1, 2, 3, 4`, quarter.Milliseconds(), int64(since)).
		Into(append([]any{&at, &provider, &model, &project}, spentFields(&p)...)...) {
		day := time.UnixMilli(at * quarter.Milliseconds()).In(location).Format(time.DateOnly)
		sum.Total.Add(p)
		addTo(days, day, p)
		addTo(providers, provider, p)
		addTo(projects, project, p)
		addToModel(models, provider, model, p)
	}
	sum.Days = listed(days, func(a, b SpentOn) int { return cmp.Compare(a.Name, b.Name) })
	sum.Models = listed(models, mostTokens)
	sum.Providers, sum.Projects = listed(providers, mostTokens), listed(projects, mostTokens)
	return sum, err
}

// spentColumns sum up calls of llm_calls c; spentFields are where they go.
const spentColumns = `count(*), count(*) FILTER (WHERE c.outcome NOT IN ('ok', 'reserved')),
	sum(c.tokens_in), sum(c.tokens_out), sum(c.tokens_cached), sum(c.reserved_tokens), sum(c.cost_usd),
	count(*) FILTER (WHERE c.cost_usd = 0 AND c.tokens_in + c.tokens_out + c.tokens_cached > 0)`

func spentFields(p *Spent) []any {
	return []any{&p.Calls, &p.Failed, &p.TokensIn, &p.TokensOut, &p.TokensCached, &p.Reserved, &p.USD, &p.Unpriced}
}

// mostTokens orders by tokens, the most first.
func mostTokens(a, b SpentOn) int {
	return cmp.Or(cmp.Compare(b.TokensIn+b.TokensOut+b.TokensCached, a.TokensIn+a.TokensOut+a.TokensCached), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Provider, b.Provider))
}

// addToModel adds s to the sum of a provider's model, under a key of both names: a model's name
// says little without its provider.
func addToModel(models map[string]*SpentOn, provider, model string, s Spent) {
	key := provider + "\x00" + model
	addTo(models, key, s)
	models[key].Name, models[key].Provider = model, provider
}

// addTo adds s to the entry of that name in group, which it makes if need be.
func addTo(group map[string]*SpentOn, name string, s Spent) {
	if group[name] == nil {
		group[name] = &SpentOn{Name: name}
	}
	group[name].Add(s)
}

// listed returns the entries of group in this order.
func listed[K comparable, T any](group map[K]*T, order func(a, b T) int) []T {
	list := collect.Map(slices.Collect(maps.Values(group)), func(s *T) T { return *s })
	slices.SortFunc(list, order)
	return list
}

// Spent is what model calls used.
type Spent struct {
	Calls int `json:"calls"`
	// Failed are those without an answer.
	Failed       int `json:"failed"`
	TokensIn     int `json:"tokens_in"`
	TokensOut    int `json:"tokens_out"`
	TokensCached int `json:"tokens_cached"`
	// Reserved are the tokens of calls of which it is not known what they used.
	Reserved int `json:"tokens_reserved"`
	// USD is the estimated price of the calls that have one; absent in JSON when none has.
	USD float64 `json:"cost_usd,omitempty"`
	// Unpriced are the calls that used tokens and have no known price.
	Unpriced int `json:"unpriced_calls"`
}

// Add adds what other calls used.
func (s *Spent) Add(o Spent) {
	s.Calls += o.Calls
	s.Failed += o.Failed
	s.TokensIn += o.TokensIn
	s.TokensOut += o.TokensOut
	s.TokensCached += o.TokensCached
	s.Reserved += o.Reserved
	s.USD += o.USD
	s.Unpriced += o.Unpriced
}

// SpentOn is what was used on one day, with one provider or model, or for one project.
type SpentOn struct {
	// Name is a date (2006-01-02), a provider, a model, or a project's root.
	Name string `json:"name"`
	// Provider is a model's.
	Provider string `json:"provider,omitempty"`
	Spent
}

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

// EmptyAccount returns the account of the days that end with that of now, without any call; days
// below 1 count as 1. Its lists are not nil, so that they are no null in JSON.
func EmptyAccount(now time.Time, days int) Account {
	days = max(days, 1)
	y, m, d := now.Date()
	return Account{
		PeriodDays: days, Since: memory.MillisOf(time.Date(y, m, d-(days-1), 0, 0, 0, 0, now.Location())),
		Spending: Spending{Days: []SpentOn{}, Providers: []SpentOn{}, Models: []SpentOn{}, Projects: []SpentOn{}},
	}
}

// Account sums up the days that end with that of now, in now's location; days below 1 count as 1.
func (s *Accounts) Account(ctx context.Context, now time.Time, days int) (Account, error) {
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
func (s *Accounts) saved(ctx context.Context, since memory.Millis) (Saved, error) {
	var sum Saved
	err := s.Reader.QueryRowContext(ctx, `SELECT
		count(*) FILTER (WHERE hook_event = ?2), coalesce(sum(tokens) FILTER (WHERE hook_event = ?2), 0),
		count(*) FILTER (WHERE hook_event <> ?2), coalesce(sum(tokens) FILTER (WHERE hook_event <> ?2), 0),
		(SELECT coalesce(sum(o.discovery_tokens), 0) FROM observations o WHERE o.id IN
			(SELECT given.value FROM injections i, json_each(i.observations) given WHERE i.created_at >= ?1 AND i.arm <> 'held'))
		FROM injections WHERE created_at >= ?1 AND arm <> 'held'`, int64(since), sessionStart).
		Scan(&sum.Blocks, &sum.TokensGiven, &sum.Recollections, &sum.TokensRecalled, &sum.TokensOfWork)
	sum.Tokens = max(0, sum.TokensOfWork-sum.TokensGiven-sum.TokensRecalled)
	return sum, db.Fault("sum up what was saved", err)
}
