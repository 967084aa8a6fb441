package records

import (
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

const (
	// wordsKept is the most bytes of words and reasons of what sessions were given, WordsEvery after how many
	// injections they are counted. An injection has 30 KB at most, as a host takes no more, so that there are
	// never more than 5 MB.
	wordsKept  = 5<<20 - WordsEvery*30<<10
	WordsEvery = 16
)

// TrimWords erases the words of what sessions were given before a time, 0 for none, and the oldest of
// those that are too many. Which records they were of stays.
func TrimWords(t *db.Tx, before memory.Millis) {
	t.Exec(`UPDATE given_lines SET words = '', why = '' WHERE words <> '' AND (injection_id IN (SELECT id FROM injections WHERE created_at < ?1)
		OR id <= (SELECT id FROM (SELECT id, sum(octet_length(words) + octet_length(why)) OVER (ORDER BY id DESC) AS size FROM given_lines WHERE words <> '')
			WHERE size > ?2 ORDER BY id DESC LIMIT 1))`, int64(before), wordsKept)
}

// EraseWords erases the words of the lines of the sessions that a query selects with a list of numbers:
// a session's line may say what any of its records says.
func EraseWords(t *db.Tx, sessions, list string) {
	t.Exec("UPDATE given_lines SET words = '', why = '' WHERE session_id IN ("+sessions+" IN (SELECT value FROM json_each(?)))", list)
}
