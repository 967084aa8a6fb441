package memory

// FileWeeks counts the observations of files by week.
type FileWeeks struct {
	// Weeks are the Mondays on which the weeks begin, 2006-01-02, the oldest first.
	Weeks []string `json:"weeks"`
	// Files are those with the most observations in these weeks, the most first.
	Files []FileWeek `json:"files"`
}

// FileWeek is a file, by its path in its project, with its observations in each of the weeks.
type FileWeek struct {
	Path         string `json:"path"`
	Observations int    `json:"observations"`
	Weeks        []int  `json:"weeks"`
}
