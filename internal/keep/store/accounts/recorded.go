package accounts

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// Recorded counts the observations that were made since a time, without hidden ones.
type Recorded struct {
	// Days has the days on which there were any, in order.
	Days []RecordedOn `json:"days"`
	// Types are by their number, the most first.
	Types []RecordedAs `json:"types"`
	// Year has the number of observations of each day of the last 53 weeks with any, whatever the
	// time before.
	Year map[string]int `json:"year"`
}

// yearDays are those of Recorded.Year.
const yearDays = 53 * 7

// RecordedOn counts the observations of a day.
type RecordedOn struct {
	// Name is the date, 2006-01-02.
	Name         string                         `json:"name"`
	Observations int                            `json:"observations"`
	Types        map[memory.ObservationType]int `json:"types"`
}

// RecordedAs counts the observations of a type.
type RecordedAs struct {
	Name         memory.ObservationType `json:"name"`
	Observations int                    `json:"observations"`
}

// EmptyRecorded returns the counts of a memory without observations.
func EmptyRecorded() Recorded {
	return Recorded{Days: []RecordedOn{}, Types: []RecordedAs{}, Year: map[string]int{}}
}

// Recorded counts the observations of a project, named by its root or label, "" for all, on the
// days that end with that of now, in now's location; days below 1 count as 1. It reads an index alone;
// the counts are kept until something changes, and must not be changed.
func (s *Accounts) Recorded(ctx context.Context, project string, now time.Time, days int) (Recorded, error) {
	days = max(days, 1)
	bounds, names := daysUntil(now, max(days, yearDays))
	key := fmt.Sprint(days, bounds[len(bounds)-1], now.Location(), project)
	return records.CountOnce(ctx, s.DB, &s.recorded, "count observations by day", key, func(reader db.Querier, _ int64) (Recorded, error) {
		return recorded(ctx, reader, project, bounds, names, days)
	})
}

// recorded counts the observations of the days with these bounds and names, those of the last few days by
// type too. Recorded keeps the result.
func recorded(ctx context.Context, reader db.Querier, project string, bounds [][2]memory.Millis, names []string, days int) (sum Recorded, err error) {
	sum.Year = map[string]int{}
	each, condition := []string{""}, ""
	if project != "" {
		if each, err = records.ProjectsNamed(ctx, reader, project); err != nil {
			return EmptyRecorded(), err
		}
		condition = "project = ?2 AND "
	}
	on, as := map[string]*RecordedOn{}, map[memory.ObservationType]*RecordedAs{}
	for _, project := range each {
		if err := recordedIn(ctx, reader, condition, project, bounds, func(day int, kind memory.ObservationType, n int) {
			name := names[day]
			if day >= len(names)-yearDays {
				sum.Year[name] += n
			}
			if day < len(names)-days {
				return
			}
			if on[name] == nil {
				on[name] = &RecordedOn{Name: name, Types: map[memory.ObservationType]int{}}
			}
			if as[kind] == nil {
				as[kind] = &RecordedAs{Name: kind}
			}
			on[name].Observations += n
			on[name].Types[kind] += n
			as[kind].Observations += n
		}); err != nil {
			return EmptyRecorded(), err
		}
	}
	sum.Days = listed(on, func(a, b RecordedOn) int { return cmp.Compare(a.Name, b.Name) })
	sum.Types = listed(as, func(a, b RecordedAs) int {
		return cmp.Or(cmp.Compare(b.Observations, a.Observations), cmp.Compare(a.Name, b.Name))
	})
	return sum, nil
}

// daysUntil returns the first and last milliseconds of the days that end with that of now, and
// their dates.
func daysUntil(now time.Time, days int) (bounds [][2]memory.Millis, names []string) {
	y, m, d := now.Date()
	for n := days - 1; n >= 0; n-- {
		day := time.Date(y, m, d-n, 0, 0, 0, 0, now.Location())
		from, to := dayOf(day)
		bounds, names = append(bounds, [2]memory.Millis{from, to - 1}), append(names, day.Format(time.DateOnly))
	}
	return bounds, names
}

// recordedIn calls add with the number of observations of each type on each of the days, 0 left
// out; day is an index of bounds. condition is "" or that on the project, with AND. A query for
// each type and day counts a range of an index, which needs no sorting.
func recordedIn(ctx context.Context, reader db.Querier, condition, project string, bounds [][2]memory.Millis, add func(day int, kind memory.ObservationType, n int)) (err error) {
	var day, n int
	var kind memory.ObservationType
	for range db.Select(ctx, reader, &err, `WITH RECURSIVE types (type) AS (
			SELECT min(type) FROM observations WHERE `+condition+`type > ''
			UNION ALL SELECT (SELECT min(type) FROM observations WHERE `+condition+`type > types.type) FROM types WHERE types.type IS NOT NULL),
		days (day, since, until) AS MATERIALIZED (SELECT key, json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?1))
		SELECT d.day, t.type, (SELECT count(*) FROM observations WHERE `+condition+`type = t.type AND deleted_at IS NULL
			AND created_at BETWEEN d.since AND d.until)
		FROM types t CROSS JOIN days d WHERE t.type IS NOT NULL`, db.JSONList(bounds), project).Into(&day, &kind, &n) {
		if n > 0 {
			add(day, kind, n)
		}
	}
	return err
}
