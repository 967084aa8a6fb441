package books

import "claudemem/internal/keep/store/db"

// Remembered returns how many sessions a bookkeeper remembers.
func Remembered(b db.Books) int { return len(b.(*bookkeeper).sessions) }
