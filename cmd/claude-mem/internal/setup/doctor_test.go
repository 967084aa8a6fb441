package setup

import (
	"strings"
	"testing"
	"time"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/run/doctor"
	"claudemem/internal/serve/api"
)

func TestReportForPeople(t *testing.T) {
	var out strings.Builder
	p := &print.Printer{W: print.Terminal{W: &out}, Now: time.Unix(0, 0)}
	printReport(p, doctor.Report{
		Status: doctor.Fail,
		Fixed:  []doctor.Finding{{Finding: api.Finding{Check: "data", Name: "data-open", Status: doctor.Warn, Text: "/m has mode 0755"}}},
		Findings: []doctor.Finding{
			{Finding: api.Finding{Check: "binaries", Name: "binaries", Status: doctor.OK, Text: "both \x1b[31mthere"}},
			{Finding: api.Finding{Check: "worker", Name: "worker-mute", Status: doctor.Fail, Text: "nobody answers", Fix: "kill 7; claude-mem worker start"}},
			{Finding: api.Finding{Check: "worker", Name: "port-taken", Status: doctor.Warn, Text: "port 37777 is taken", Fix: "claude-mem config set CLAUDE_MEM_WORKER_PORT 1"}},
			{Finding: api.Finding{Check: "index", Name: "index-missing", Status: doctor.Warn, Text: "there is none", Fix: "claude-mem reindex", Fixable: true}},
		},
		Counts: api.FindingCounts{OK: 1, Warn: 2, Fail: 1},
	})
	want := `✓ data      fixed: /m has mode 0755

✓ binaries  both [31mthere
✗ worker    nobody answers
            → kill 7; claude-mem worker start
!           port 37777 is taken
            → claude-mem config set CLAUDE_MEM_WORKER_PORT 1
! index     there is none
            → claude-mem reindex

1 broken, 2 warnings; ` + "`claude-mem doctor --fix`" + ` repairs 1 of them.
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
