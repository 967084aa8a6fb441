package accounts

import (
	"context"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// The weeks of a count by file, and the most files.
const (
	fileWeeks = 26
	mostFiles = 30
)

// FileWeeks counts the observations, without hidden ones, of a project, named by its root or label, ""
// for all, by file and week; the last week is that of now, in its location. The counts are kept until
// something changes: of 50,000 observations they take 80 ms.
func (s *Accounts) FileWeeks(ctx context.Context, project string, now time.Time) (memory.FileWeeks, error) {
	y, m, d := now.Date()
	monday := d - (int(now.Weekday())+6)%7
	found := memory.FileWeeks{Files: []memory.FileWeek{}}
	bounds := make([][2]memory.Millis, fileWeeks)
	for i := range bounds {
		begin := func(n int) time.Time { return time.Date(y, m, monday-7*(fileWeeks-1-n), 0, 0, 0, 0, now.Location()) }
		bounds[i] = [2]memory.Millis{memory.MillisOf(begin(i)), memory.MillisOf(begin(i+1)) - 1}
		found.Weeks = append(found.Weeks, begin(i).Format(time.DateOnly))
	}
	return records.CountOnce(ctx, s.DB, &s.weeks, "count observations by file and week", db.JSONList(bounds)+project, func(reader db.Querier, _ int64) (_ memory.FileWeeks, err error) {
		condition, named := "", []string{}
		if project != "" {
			condition = "o.project IN (SELECT value FROM json_each(?2)) AND "
			if named, err = records.ProjectsNamed(ctx, reader, project); err != nil {
				return memory.FileWeeks{}, err
			}
		}
		at := map[string]int{}
		var path string
		var week, n int
		for range db.Select(ctx, reader, &err, `WITH counted (path_id, week, n) AS MATERIALIZED (
				SELECT f.path_id, w.key, count(*) FROM json_each(?1) w
				CROSS JOIN observations o ON `+condition+`o.pinned IN (0, 1) AND o.deleted_at IS NULL
					AND o.created_at BETWEEN json_extract(w.value, '$[0]') AND json_extract(w.value, '$[1]')
				CROSS JOIN file_refs f ON f.observation_id = o.id GROUP BY f.path_id, w.key),
			most (path_id, n) AS MATERIALIZED (SELECT path_id, sum(n) FROM counted GROUP BY path_id ORDER BY sum(n) DESC, path_id LIMIT ?3)
			SELECT p.path, c.week, c.n FROM most m JOIN counted c ON c.path_id = m.path_id JOIN paths p ON p.id = m.path_id
			ORDER BY m.n DESC, m.path_id`, db.JSONList(bounds), db.JSONList(named), mostFiles).Into(&path, &week, &n) {
			if _, known := at[path]; !known {
				at[path] = len(found.Files)
				found.Files = append(found.Files, memory.FileWeek{Path: path, Weeks: make([]int, fileWeeks)})
			}
			file := &found.Files[at[path]]
			file.Weeks[week] += n
			file.Observations += n
		}
		return found, err
	})
}
