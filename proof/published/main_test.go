package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// made returns graded cells of tasks of different difficulty, at which the arm with the memory passes more often by gain.
func made(tasks, seeds int, gain float64) []cell {
	r := rand.New(rand.NewPCG(3, 4))
	var cells []cell
	for task := range tasks {
		ease := r.Float64() * (1 - gain)
		for range seeds {
			name := fmt.Sprint("task", task)
			cells = append(cells, cell{name, "bare", number(r.Float64() < ease)}, cell{name, "memory", number(r.Float64() < ease+gain)})
		}
	}
	return cells
}

// TestMethod: halves of an arm are not told apart in 95 % of the splits, and the difference of the records is found.
func TestMethod(t *testing.T) {
	for gain, known := range map[float64]bool{0: false, 0.1: false, 0.4: true} {
		a, err := analyse(made(40, 5, gain), "memory", "bare")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("gain %.1f: %+v", gain, a)
		for arm, same := range a.same {
			if same < .95 {
				t.Errorf("gain %.1f: halves of %s are told apart in %.3f of the splits", gain, arm, 1-same)
			}
		}
		if a.holds < .95 || gain > 0 && a.sign < .95 {
			t.Errorf("gain %.1f: the interval holds the difference in %.3f of the orders, the sign is right in %.3f", gain, a.holds, a.sign)
		}
		if known && a.known < .95 || gain == 0 && a.known > .05 {
			t.Errorf("gain %.1f: known in %.3f of the orders", gain, a.known)
		}
	}
}

// TestFormats reads each documented format, and refuses what is none.
func TestFormats(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"outcomes.csv": {"task,arm,outcome\na,bare,1\na,memory,0.5\n", "[{a bare 1} {a memory 0.5}]"},
		"counts.csv":   {"Task, Arm, Passed, Of\na,bare,1,2\nb,bare,0,0\n", "[{a bare 1} {a bare 0}]"},
		"none.csv":     {"task,outcome\na,1\n", "the header needs task, arm"},
		"text.csv":     {"task,arm,outcome\na,bare,good\n", `row 2: outcome is "good"`},
		"nan.csv":      {"task,arm,outcome\na,bare,NaN\n", `row 2: outcome is "NaN"`},
		"many.csv":     {"task,arm,passed,of\na,bare,3,2\n", "row 2: 3 of 2 passed"},
		"records.jsonl": {`{"task_id":"a","arm":"bare","success":true,"seed":0}` + "\n" + `{"task_id":"a","arm":"memory","success":false}` + "\n" + `{"task_id":"a","arm":"lost","success":null}`,
			"[{a bare 1} {a memory 0}]"},
		"state.json": {`{"task_eval_progress":{"m":{"off":{"a":{"harness_result":true},"b":{"harness_result":null},"c":{"harness_result":true}},"on":{"a":{"harness_result":false},"b":{"harness_result":true}}}}}`,
			"[{m a off 1} {m a on 0}]"},
		"broken.jsonl": {`{"task_id":`, "unexpected EOF"},
	} {
		cells, err := read(filepath.Ext(name), []byte(tt.text))
		got := fmt.Sprint(cells)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestRun prints both parts, and says which arms there are.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cells.csv")
	if err := os.WriteFile(file, []byte("task,arm,passed,of\na,bare,10,40\na,memory,30,40\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(&out, []string{file}, "memory", "bare"); err != nil || strings.Count(out.String(), "A/A ") != 2 || !strings.Contains(out.String(), "A/B memory against bare: +50.0 points by the records of 80 cells") {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := run(&out, []string{file}, "memory", "placebo"); err == nil || !strings.Contains(err.Error(), "bare, memory") {
		t.Errorf("an arm that is not there: %v", err)
	}
	if err := run(&out, []string{file + ".not"}, "memory", "bare"); err == nil {
		t.Error("a file that is not there is read")
	}
}
