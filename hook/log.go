package hook

import (
	"os"
	"path/filepath"
	"time"

	"claudemem/jsonscan"
)

// largestLog is when hook.log is set aside as hook.log.1; there are never more than the two.
const largestLog = 1 << 20

// log notes a fault as one line of JSON in logs/hook.log of the data directory.
// Neither what nor fault may hold anything of the payload. It is the last thing
// that can be done about a fault, so its own failure is silent.
func (r *run) log(what, fault string) {
	if r.dataDir == "" {
		return
	}
	dir := filepath.Join(r.dataDir, "logs")
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
	b := append([]byte(`{"time":"`), r.stamp.UTC().Format(time.RFC3339Nano)...)
	b = append(b, `","level":"WARN","msg":`...)
	b = jsonscan.AppendQuote(b, what)
	b = append(b, `,"verb":`...)
	b = jsonscan.AppendQuote(b, string(r.Verb))
	b = append(b, `,"error":`...)
	b = jsonscan.AppendQuote(b, truncateName(fault, longestName))
	_, _ = f.Write(append(b, '}', '\n'))
	_ = f.Close()
}
