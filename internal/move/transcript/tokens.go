package transcript

import (
	"math"
	"time"

	"claudemem/internal/leaf/jsonscan"
)

// Tokens returns the tokens that the provider counted in a session of Claude Code and its subagents, by its file: those sent and
// written in full, those read from the provider's cache as a tenth, which is about what they cost. 0 where the file does not tell.
func Tokens(path string) (int, error) {
	folders, err := Find(path, time.Time{})
	if err != nil {
		return 0, err
	}
	used := map[string]int{} // by message: each block of one is a record, and says the same or less of it
	for _, f := range folders {
		for _, s := range f.Sessions {
			for _, name := range append(s.Agents, s.Path) {
				if err := eachRecord(name, math.MaxInt64, func(r *record) bool {
					used[r.message] = max(used[r.message], r.tokens())
					return false
				}); err != nil {
					return 0, err
				}
			}
		}
	}
	total := 0
	for _, n := range used {
		total += n
	}
	return total, nil
}

// tokens returns those of the message of a record, 0 for one that does not tell.
func (r *record) tokens() int {
	var sent, written, cached, cache int
	_ = jsonscan.Decode(r.usage, map[string]any{"input_tokens": &sent, "output_tokens": &written, "cache_creation_input_tokens": &cached, "cache_read_input_tokens": &cache})
	const most = 1e9 // of a message, whatever a file says
	return min(max(sent, 0), most) + min(max(written, 0), most) + min(max(cached, 0), most) + min(max(cache, 0), most)/10
}
