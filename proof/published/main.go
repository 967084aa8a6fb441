// Command published tries the method of `claude-mem impact` on published records of experiments with memories of agents:
//
//	go run ./proof/published -arm memory -other bare FILE...
//
// It reads one graded cell a row, a task tried by an arm: CSV with the columns task, arm and outcome (a number), or task, arm,
// passed and of (so many of so many cells passed); lines of JSON with task_id, arm and success (agent-memory-bench's
// records.jsonl); or an object with task_eval_progress (SWE-Bench-CL's eval_state.json). Nothing is downloaded.
//
// It prints two things. A/A: the cells of each arm are split by lot a thousand times, and a difference between the halves
// is a false claim. A/B: the cells of both arms come in a thousand orders, and the interval is to hold the difference
// that was published.
package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/find/trial"
	"claudemem/internal/memory"
)

// cell is what an arm made of a task, once.
type cell struct {
	task, arm string
	value     float64
}

// splits is how often cells are split, and put in another order.
const splits = 1000

func main() {
	arm := flag.String("arm", "", "the arm with the memory")
	other := flag.String("other", "", "the arm that it is compared with")
	flag.Parse()
	if err := run(os.Stdout, flag.Args(), *arm, *other); err != nil {
		fmt.Fprintln(os.Stderr, "published:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, files []string, arm, other string) error {
	var cells []cell
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err == nil {
			var more []cell
			more, err = read(filepath.Ext(name), raw)
			cells = append(cells, more...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	found, err := analyse(cells, arm, other)
	if err != nil {
		return err
	}
	for _, of := range slices.Sorted(maps.Keys(found.same)) {
		fmt.Fprintf(out, "A/A %s: no difference in %.1f %% of %d splits\n", of, 100*found.same[of], splits)
	}
	fmt.Fprintf(out, "A/B %s against %s: %+.1f points by the records of %d cells; on average %+.1f found, the interval of %.1f points to either side holds it in %.1f %% of %d orders, the sign is right in %.1f %%, known in %.1f %%\n",
		arm, other, 100*found.difference, found.cells, 100*found.mean, 100*found.half, 100*found.holds, splits, 100*found.sign, 100*found.known)
	return nil
}

// analysis is what the method makes of published records: shares of the splits and orders.
type analysis struct {
	cells int
	// same is the share of splits of an arm without a difference.
	same map[string]float64
	// difference is that of the records, mean and half what was found on average, with half of the interval's width.
	difference, mean, half float64
	holds, sign, known     float64
}

// analyse compares two arms.
func analyse(cells []cell, arm, other string) (a analysis, err error) {
	a.same = map[string]float64{}
	random := rand.New(rand.NewPCG(1, 2))
	of := map[string][]cell{}
	for _, c := range cells {
		of[c.arm] = append(of[c.arm], c)
	}
	both := slices.Concat(of[arm], of[other])
	if arm == other || len(of[arm]) == 0 || len(of[other]) == 0 {
		return a, fmt.Errorf("there are cells of the arms %s, and none of %q or %q", strings.Join(slices.Sorted(maps.Keys(of)), ", "), arm, other)
	}
	mean := func(list []cell) (sum float64) {
		for _, c := range list {
			sum += c.value / float64(len(list))
		}
		return sum
	}
	a.cells, a.difference = len(both), mean(of[arm])-mean(of[other])
	chance := float64(len(of[arm])) / float64(len(both))
	// compare shuffles the cells and compares those of which is reports that they are of the first arm.
	compare := func(list []cell, chance float64, is func(*cell) bool) trial.Effect {
		c := trial.Compare(memory.ArmMemory, memory.ArmNothing)
		list = slices.Clone(list)
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for i := range list {
			r := trial.Result{Project: list[i].task, Arm: memory.ArmNothing, Value: list[i].value, Chance: 1 - chance}
			if is(&list[i]) {
				r.Arm, r.Chance = memory.ArmMemory, chance
			}
			c.Add(r)
		}
		return c.Effect(trial.ErrorRate / 2)
	}
	for range splits {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if e := compare(of[name], 0.5, func(*cell) bool { return random.IntN(2) == 0 }); !e.Known() {
				a.same[name] += 1.0 / splits
			}
		}
		e := compare(both, chance, func(c *cell) bool { return c.arm == arm })
		a.mean += e.Mean / splits
		a.half += (e.High - e.Low) / 2 / splits
		for share, is := range map[*float64]bool{&a.holds: e.Low <= a.difference && a.difference <= e.High, &a.known: e.Known(), &a.sign: e.Mean*a.difference >= 0} {
			if is {
				*share += 1.0 / splits
			}
		}
	}
	return a, nil
}

// read returns the cells of a file.
func read(extension string, raw []byte) ([]cell, error) {
	switch {
	case extension == ".csv":
		return readCSV(raw)
	case bytes.Contains(raw[:min(len(raw), 4096)], []byte(`"task_eval_progress"`)):
		return readProgress(raw)
	}
	var cells []cell
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		var r struct {
			Task    string `json:"task_id"`
			Arm     string `json:"arm"`
			Success *bool  `json:"success"`
		}
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return cells, nil
		} else if err != nil {
			return nil, err
		}
		if r.Success != nil && r.Arm != "" { // else it was not graded
			cells = append(cells, cell{r.Task, r.Arm, number(*r.Success)})
		}
	}
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// readProgress reads the state of SWE-Bench-CL's evaluation: model, arm, task. Its result is null where it was not graded. Only
// tasks that each arm has a result of are compared.
func readProgress(raw []byte) ([]cell, error) {
	var state struct {
		Progress map[string]map[string]map[string]struct {
			Result *bool `json:"harness_result"`
		} `json:"task_eval_progress"`
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return nil, err
	}
	var cells []cell
	for model, arms := range state.Progress {
		for arm, tasks := range arms {
			for task, t := range tasks {
				graded := t.Result != nil
				for _, others := range arms {
					graded = graded && others[task].Result != nil
				}
				if graded {
					cells = append(cells, cell{model + " " + task, arm, number(*t.Result)})
				}
			}
		}
	}
	slices.SortFunc(cells, func(a, b cell) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.arm, b.arm)) })
	return cells, nil
}

// readCSV reads rows with a header.
func readCSV(raw []byte) ([]cell, error) {
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[strings.ToLower(strings.TrimSpace(name))] = i + 1
	}
	if at["task"] == 0 || at["arm"] == 0 || at["outcome"] == 0 && (at["passed"] == 0 || at["of"] == 0) {
		return nil, errors.New("the header needs task, arm, and outcome or passed and of")
	}
	var cells []cell
	for line, row := range rows[1:] {
		value := func(name string) float64 {
			v, bad := strconv.ParseFloat(strings.TrimSpace(row[at[name]-1]), 64)
			if bad != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				err = fmt.Errorf("row %d: %s is %q", line+2, name, row[at[name]-1])
			}
			return v
		}
		c := cell{task: row[at["task"]-1], arm: row[at["arm"]-1]}
		if at["outcome"] != 0 {
			c.value = value("outcome")
			cells = append(cells, c)
		} else if passed, of := value("passed"), value("of"); passed < 0 || passed > of || of > 1e6 {
			err = fmt.Errorf("row %d: %g of %g passed", line+2, passed, of)
		} else {
			for i := range int(of) {
				cells = append(cells, cell{c.task, c.arm, number(float64(i) < passed)})
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return cells, nil
}
