package daemon

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// BenchmarkDeliver is the worker's part of a hook call: 8 sessions deliver events
// of 2.4 KB over the socket, each on a connection of its own as hooks do, with the
// full secret rules and a synced commit.
func BenchmarkDeliver(b *testing.B) {
	dir := b.TempDir()
	w, err := Open(b.Context(), config(dir))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := w.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	output := strings.Repeat("ok  \tgithub.com/example/project/internal/cart\t0.012s\n", 42)
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", w.socket)
		},
	}}
	var next, failed atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		session := fmt.Sprint("session-", i)
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				e := event(session, memory.KindTool)
				e.ToolResponse = fmt.Appendf(nil, `{"stdout":%q,"stderr":"","interrupted":false}`, output)
				body := bytes.NewReader(wire.EncodeEvent(&e))
				response, err := client.Post("http://localhost"+wire.PathObservation, "application/json", body)
				if err != nil || response.StatusCode != http.StatusAccepted {
					failed.Add(1)
					continue
				}
				_ = response.Body.Close()
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 {
		b.Fatalf("%d of %d were not accepted", failed.Load(), b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
