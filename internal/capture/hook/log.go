package hook

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text/runes"
	"claudemem/internal/memory"
)

// largestLog is the size at which hook.log is renamed to hook.log.1, replacing it.
const largestLog = 1 << 20

// EventLost begins the messages in hook.log about an event that was neither delivered
// nor spooled. claude-mem doctor counts them.
const EventLost = "event lost"

// log writes a fault as one line of JSON to logs/hook.log in the data directory.
// Neither what nor fault may quote the payload. A failure to log is ignored. An event that
// is lost by what is also counted.
func (r *run) log(what, fault string) { r.journal().log(what, fault) }

// journal is where and how a run logs.
type journal struct {
	dataDir string
	getenv  func(string) string
	stamp   time.Time
	verb    Verb
	// deliveryID is that of the run's event, once it has one, and refusal why the worker
	// has not taken it, "" if it was not asked.
	deliveryID, refusal string
}

func (r *run) journal() journal {
	return journal{r.DataDir, r.Getenv, r.stamp, r.Verb, r.deliveryID, r.refusal}
}

// log is run.log for a journal, which another goroutine may use: it is a copy.
func (j journal) log(what, fault string) {
	if j.dataDir == "" {
		return
	}
	if strings.HasPrefix(what, EventLost) {
		_ = wire.LossesOf(j.dataDir, j.getenv).Add(memory.Loss{ // the log may still take it
			DeliveryID: j.deliveryID, At: memory.MillisOf(j.stamp), Worker: j.refusal, Hook: fault,
		})
	}
	path := filepath.Join(j.dataDir, "logs", "hook.log")
	if info, err := os.Stat(path); err == nil && info.Size() > largestLog {
		_ = os.Rename(path, path+".1") // the next hook tries again
	}
	f, err := openfile.InDir(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	at, _ := j.stamp.UTC().AppendText(nil) // links less than Format; years after 9999 have none
	line := jsonscan.Object("time", string(at), "level", "WARN", "msg", what, "verb", string(j.verb), "error", runes.FirstBytes(fault, longestName))
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}
