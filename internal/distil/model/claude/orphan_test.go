package claude

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// The worker is killed while one process idles and another has a running call.
// Linux ends both in any case; elsewhere the end of stdin ends the idle one.
func TestKilledWorkerLeavesNoProcess(t *testing.T) {
	b := newBench(t)
	if runtime.GOOS == "linux" {
		b.env = append(b.env, "FAKE_STUBBORN=1")
	}
	worker := exec.Command(os.Args[0])
	worker.Env = append(b.env, "FAKE_WORKER="+b.dir)
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = worker.Process.Kill(); _ = worker.Wait() }()
	eventually(t, "one idles, one is busy", func() bool { return len(b.prompts()) == 2 })
	starts := b.records("start")
	for _, s := range starts {
		if !alive(s.PID) {
			t.Fatalf("process %d is not there", s.PID)
		}
		defer func() { // when the test fails
			if !gone(s.PID) {
				killProcess(t, s.PID)
			}
		}()
	}
	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = worker.Wait() // killed
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		starts = starts[:1]
	}
	for _, s := range starts {
		eventually(t, "process has ended", func() bool { return gone(s.PID) })
	}
	// The next worker removes what it left behind.
	p := b.open()
	if got := ask(t, p, request("idle", "again")); got != "<a>again after 2</a>" {
		t.Errorf("answer %q", got)
	}
}
