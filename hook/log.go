package hook

import (
	"os"
	"path/filepath"
	"time"

	"claudemem/jsonscan"
)

// largestLog is the size at which hook.log is renamed to hook.log.1, replacing it.
const largestLog = 1 << 20

// EventLost begins the messages in hook.log about an event that was neither delivered
// nor spooled. claude-mem doctor counts them.
const EventLost = "event lost"

// log writes a fault as one line of JSON to logs/hook.log in the data directory.
// Neither what nor fault may quote the payload. A failure to log is ignored.
func (r *run) log(what, fault string) { r.journal().log(what, fault) }

// journal is where and how a run logs.
type journal struct {
	dataDir string
	stamp   time.Time
	verb    Verb
}

func (r *run) journal() journal { return journal{r.dataDir, r.stamp, r.Verb} }

func (j journal) log(what, fault string) {
	if j.dataDir == "" {
		return
	}
	dir := filepath.Join(j.dataDir, "logs")
	path := filepath.Join(dir, "hook.log")
	if info, err := os.Stat(path); err == nil && info.Size() > largestLog {
		_ = os.Rename(path, path+".1") // the next hook tries again
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if os.IsNotExist(err) {
		if os.MkdirAll(dir, 0o700) != nil {
			return
		}
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	}
	if err != nil {
		return
	}
	b, _ := j.stamp.UTC().AppendText([]byte(`{"time":"`)) // links less than Format; years after 9999 have none
	b = append(b, `","level":"WARN","msg":`...)
	b = jsonscan.AppendQuote(b, what)
	b = append(b, `,"verb":`...)
	b = jsonscan.AppendQuote(b, string(j.verb))
	b = append(b, `,"error":`...)
	b = jsonscan.AppendQuote(b, truncateName(fault, longestName))
	_, _ = f.Write(append(b, '}', '\n'))
	_ = f.Close()
}
