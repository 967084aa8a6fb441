// Command claude-mem-hook is the small twin of claude-mem for the hot path: it
// runs in the host's time and costs little more than an empty Go program.
package main

import (
	"os"
	"time"

	"claudemem/hook"
)

func main() {
	hook.Main(os.Args[1:], hook.Options{StartedAt: time.Now()})
}
