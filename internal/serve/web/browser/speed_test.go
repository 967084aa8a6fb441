package browser

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	observations = flag.Int("observations", 12_000, "observations of the memory whose pages are timed")
	bar          = flag.Duration("bar", 0, "the median time of a page that fails the test; none without it")
	lateBar      = flag.Duration("bar95", 0, "the 95th percentile of a page's times that fails the test; none without it")
)

const (
	// asked is how often each page is asked for its median time.
	asked = 41
	// heaviest is the weight of a page with its styles and scripts, in bytes.
	heaviest = 150 << 10
	// paged is the number of records through which the feed is turned.
	paged = 10_000
)

// body returns what the worker answers to a path, and how long it took.
func (r *rig) body(path string) (string, time.Duration) {
	r.t.Helper()
	started := time.Now()
	resp, err := http.Get(r.origin() + path)
	must(r.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(r.t, err)
	if resp.StatusCode != http.StatusOK {
		_, shown, _ := strings.Cut(string(text), "<main")
		logged, _ := os.ReadFile(filepath.Join(r.dir, "logs", "worker.log"))
		r.t.Fatalf("GET %s: %s: %.1000s\n%s", path, resp.Status, shown, logged[max(0, len(logged)-2000):])
	}
	return string(text), time.Since(started)
}

// settle waits until the index has taken in every record.
func (r *rig) settle() {
	r.t.Helper()
	for {
		var page struct{ Understood struct{ Notes []string } }
		r.get("/api/search?query=rate+limiter&limit=1", &page)
		if !slices.ContainsFunc(page.Understood.Notes, func(n string) bool { return strings.Contains(n, "the index has") }) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

var (
	loaded = regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`)
	rowID  = regexp.MustCompile(`data-id="((?:observation|summary)-[^"]+)"`)
	next   = regexp.MustCompile(`href="(/\?before=[^"]+)"`)
)

// TestLargeMemory: pages of a large memory are quick and light, and the feed ends nowhere early.
func TestLargeMemory(t *testing.T) {
	r := newRig(t, Memory{Observations: *observations, Until: time.Now(), Days: 365})
	r.settle()
	middle := *observations / 2
	t.Run("pages", func(t *testing.T) {
		slowest, at, weight := time.Duration(0), "", 0
		latest, lateAt := time.Duration(0), ""
		for _, path := range []string{"/", "/?q=type:bugfix", "/?q=project:tally", "/?q=file:cache.go+type:bugfix", "/search", "/search?q=rate+limiter", "/search?q=" + url.QueryEscape("why did we choose whole cents project:tally"),
			"/sessions", fmt.Sprintf("/session/%d", middle/perSession), fmt.Sprintf("/observation/%d", middle), fmt.Sprintf("/timeline?around=%d", middle), "/learnings",
			"/code", "/code?files=cache%2Fcache.go", "/stats", "/stats?days=90", "/stats?days=365", "/stats?project=tally", "/given", "/context", "/context?project=harbor&source=resume", "/queue", "/settings", "/logs"} {
			took := make([]time.Duration, asked)
			var page string
			for i := range took {
				page, took[i] = r.body(path)
			}
			slices.Sort(took)
			median, late := took[asked/2], took[asked*95/100]
			bytes := len(page)
			for _, file := range loaded.FindAllStringSubmatch(page, -1) {
				text, _ := r.body(file[1])
				bytes += len(text)
			}
			t.Logf("%-60s %6.1f ms, 95th percentile %6.1f ms, %4d KB", path, median.Seconds()*1000, late.Seconds()*1000, bytes>>10)
			if median > slowest {
				slowest, at = median, path
			}
			if late > latest {
				latest, lateAt = late, path
			}
			weight = max(weight, bytes)
			if *bar > 0 && median > *bar {
				t.Errorf("%s takes %v, the bar is %v", path, median.Round(time.Millisecond/10), *bar)
			}
			if *lateBar > 0 && late > *lateBar {
				t.Errorf("%s takes %v in the 95th percentile, the bar is %v", path, late.Round(time.Millisecond/10), *lateBar)
			}
			if bytes > heaviest {
				t.Errorf("%s and its files have %d KB", path, bytes>>10)
			}
		}
		t.Logf("point 3: at %d observations the slowest page (%s) takes %.0f ms in the median of %d, the latest (%s) %.0f ms in the 95th percentile, the heaviest with its files has %d KB", *observations, at, slowest.Seconds()*1000, asked, lateAt, latest.Seconds()*1000, weight>>10)
	})
	t.Run("feed", func(t *testing.T) {
		var ids []string
		pages, path := 0, "/"
		for ; len(ids) < paged; pages++ {
			page, _ := r.body(path)
			shown := rowID.FindAllStringSubmatch(page, -1)
			for _, id := range shown {
				ids = append(ids, id[1])
			}
			older := next.FindStringSubmatch(page)
			if older == nil {
				break
			}
			path = older[1]
		}
		if len(ids) < paged {
			t.Fatalf("the feed ends after %d records on %d pages, at %s", len(ids), pages, path)
		}
		// The API lists the same records in pages of its own.
		var want []string
		for len(want) < len(ids) {
			found := r.found(fmt.Sprintf("order=newest&kind=observation,summary&limit=100&offset=%d", len(want)))
			if len(found) == 0 {
				break
			}
			want = append(want, found...)
		}
		// Within a turn the summary comes last.
		slices.Sort(ids)
		if want = want[:min(len(want), len(ids))]; !slices.Equal(ids, slices.Sorted(slices.Values(want))) {
			t.Errorf("the feed does not show the %d newest records, each once", len(ids))
		}
		t.Logf("point 3: the feed shows %d records on %d pages, none missing or doubled", len(ids), pages)
	})
}
