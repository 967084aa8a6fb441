package transcript

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// write writes a file with a time.
func write(t *testing.T, name, content string, at time.Time) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

// readAll returns the events below a directory, one line each.
func readAll(t *testing.T, dir string, config map[string]string) (lines []string, r *Reader) {
	t.Helper()
	s, err := settings.LoadForWorker(t.TempDir(), func(key string) string { return config[key] })
	if err != nil {
		t.Fatal(err)
	}
	folders, err := Find(dir, time.Time{})
	known := map[string]int64{}
	for i, id := range strings.Fields(config["known"]) {
		known[id] = int64(i + 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	r = &Reader{Settings: s, Backfill: memory.BackfillOffline, Known: known}
	for _, f := range folders {
		r.Enter()
		f.Order(known)
		for i := range f.Sessions {
			if err := r.Read(context.Background(), &f.Sessions[i], func(e memory.Event) error {
				lines = append(lines, line(&e))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return lines, r
}

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestCopies: what a fork or a resumed session has copied is of the session that began first;
// copies are looked for within a folder.
func TestCopies(t *testing.T) {
	dir := t.TempDir()
	first := prompt + use + result + done
	fork := strings.ReplaceAll(first, `"sessionId":"s"`, `"sessionId":"fork"`) + strings.NewReplacer(`"s"`, `"fork"`, `"x"`, `"n1"`).Replace(typing("Another way"))
	write(t, filepath.Join(dir, "-p", "a-fork.jsonl"), fork, day.Add(time.Hour))
	write(t, filepath.Join(dir, "-p", "s.jsonl"), first, day)
	write(t, filepath.Join(dir, "-q", "t.jsonl"), strings.ReplaceAll(first, `"sessionId":"s"`, `"sessionId":"t"`), day)
	got, r := readAll(t, dir, nil)
	want := []string{
		"s prompt p1 Fix it", `s tool p1 t1 Bash {"command":"go test"} {"stdout":"ok"}`, "s stop p1 Fixed.",
		"fork prompt p2 Another way",
		"t prompt p1 Fix it", `t tool p1 t1 Bash {"command":"go test"} {"stdout":"ok"}`, "t stop p1 Fixed.",
	}
	if diff := cmp.Diff(want, got); diff != "" || r.Counts.Copied != 4 {
		t.Errorf("%d copied; -want +got:\n%s", r.Counts.Copied, diff)
	}
}

// TestForks: the common history belongs to the session that was there before, by what is known, by what
// the fork says of its records, or by which of them went on first, never by the times of files.
func TestForks(t *testing.T) {
	at := func(text, clock string) string { return strings.ReplaceAll(text, "10:00:00Z", clock) }
	in := func(session, text string) string {
		return strings.ReplaceAll(text, `"sessionId":"s"`, `"sessionId":"`+session+`"`)
	}
	common := prompt + use + result + done
	next := func(uuid, clock string) string {
		return at(strings.NewReplacer(`"x"`, `"`+uuid+`"`, "p2", "p-"+uuid).Replace(typing("Go on as "+uuid)), clock)
	}
	marked := func(text string) string { // as a fork that makes uuids of its own writes its copies
		text = in("fork", text)
		for _, uuid := range []string{"u1", "a1", "u2", "a2"} {
			text = strings.ReplaceAll(text, `"uuid":"`+uuid+`"`, `"uuid":"n-`+uuid+`","forkedFrom":{"sessionId":"s","messageUuid":"`+uuid+`"}`)
		}
		return text
	}
	const shared = `s prompt p1 Fix it|s tool p1 t1 Bash {"command":"go test"} {"stdout":"ok"}|s stop p1 Fixed.`
	of := func(session string) string { return strings.ReplaceAll("|"+shared, "|s ", "|"+session+" ")[1:] }
	for name, test := range map[string]struct{ original, fork, known, want string }{
		"uuids kept, original goes on first":  {common + next("o", "11:00:00Z"), in("fork", common+next("f", "12:00:00Z")), "", shared + "|s prompt p-o Go on as o|fork prompt p-f Go on as f"},
		"uuids kept, fork goes on first":      {common + next("o", "13:00:00Z"), in("fork", common+next("f", "12:00:00Z")), "", of("fork") + "|fork prompt p-f Go on as f|s prompt p-o Go on as o"},
		"but the original is known":           {common + next("o", "13:00:00Z"), in("fork", common+next("f", "12:00:00Z")), "s", shared + "|s prompt p-o Go on as o|fork prompt p-f Go on as f"},
		"both known, the original first":      {common + next("o", "13:00:00Z"), in("fork", common+next("f", "12:00:00Z")), "s fork", shared + "|s prompt p-o Go on as o|fork prompt p-f Go on as f"},
		"both known, the fork first":          {common + next("o", "11:00:00Z"), in("fork", common+next("f", "12:00:00Z")), "fork s", of("fork") + "|fork prompt p-f Go on as f|s prompt p-o Go on as o"},
		"original ended before the fork":      {common, in("fork", common+next("f", "12:00:00Z")), "", shared + "|fork prompt p-f Go on as f"},
		"marked, original here":               {common + next("o", "13:00:00Z"), marked(common) + in("fork", next("f", "12:00:00Z")), "s", shared + "|s prompt p-o Go on as o|fork prompt p-f Go on as f"},
		"marked, original known or forgotten": {"", marked(common) + in("fork", next("f", "12:00:00Z")), "s", "fork prompt p-f Go on as f"},
		"marked, original unknown":            {"", marked(common) + in("fork", next("f", "12:00:00Z")), "", of("fork") + "|fork prompt p-f Go on as f"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, hours := range []time.Duration{-1, 1} {
				dir := t.TempDir()
				if test.original != "" {
					write(t, filepath.Join(dir, "-p", "s.jsonl"), test.original, day)
				}
				write(t, filepath.Join(dir, "-p", "fork.jsonl"), test.fork, day.Add(hours*time.Hour))
				got, _ := readAll(t, dir, map[string]string{"known": test.known})
				if diff := cmp.Diff(strings.Split(test.want, "|"), got); diff != "" {
					t.Errorf("fork written %d h later: -want +got:\n%s", hours, diff)
				}
			}
		})
	}
}

// TestSubagents: the events of subagents come among those of their session by time, in both
// layouts of files.
func TestSubagents(t *testing.T) {
	at := func(text, clock string) string { return strings.ReplaceAll(text, "10:00:00Z", clock) }
	agent := func(id, from, to string) string {
		f := at(use+result, from) + at(done, to)
		return strings.NewReplacer(`"uuid":"`, `"isSidechain":true,"agentId":"`+id+`","uuid":"`+id, "t1", "t-"+id).Replace(f)
	}
	main := prompt + at(use+result, "10:00:05Z") + at(done, "10:00:09Z")
	for _, layout := range []string{filepath.Join("-p", "s", "subagents"), "-p"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "-p", "s.jsonl"), main, day)
		write(t, filepath.Join(dir, layout, "agent-b.jsonl"), agent("b", "10:00:02Z", "10:00:07Z"), day)
		write(t, filepath.Join(dir, layout, "agent-a.jsonl"), agent("a", "10:00:01Z", "10:00:03Z"), day)
		write(t, filepath.Join(dir, layout, "agent-a.meta.json"), `{"agentType":"Explore"}`, day)
		got, _ := readAll(t, dir, nil)
		var order []string
		for _, l := range got {
			order = append(order, strings.Join(strings.Fields(l)[1:min(5, len(strings.Fields(l)))], " "))
		}
		want := []string{"prompt p1 Fix it", "tool p1 a Explore", "tool p1 b t-b", "tool p1 a Explore", `tool p1 t1 Bash`, "tool p1 b agent:b", "stop p1 Fixed."}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("%s: -want +got:\n%s", layout, diff)
		}
	}
	// Those that go on when the session itself has ended do, too.
	dir := t.TempDir()
	write(t, filepath.Join(dir, "-p", "s.jsonl"), prompt+done, day)
	write(t, filepath.Join(dir, "-p", "agent-a.jsonl"), agent("a", "10:00:21Z", "10:00:29Z"), day)
	write(t, filepath.Join(dir, "-p", "agent-b.jsonl"), agent("b", "10:00:22Z", "10:00:23Z"), day)
	got, _ := readAll(t, dir, nil)
	var order []string
	for _, l := range got {
		order = append(order, strings.Fields(l)[3])
	}
	if diff := cmp.Diff([]string{"Fix", "Fixed.", "a", "b", "b", "a"}, order); diff != "" {
		t.Errorf("after its session: -want +got:\n%s", diff)
	}
}

// TestLeftOut: private turns and excluded projects are left out, secrets are masked, and a file
// that is not there ends nothing.
func TestLeftOut(t *testing.T) {
	dir := t.TempDir()
	key := "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
	secret := strings.Replace(typing("<private>all of it</private>"), `"x"`, `"y"`, 1) + use + result + done + strings.Replace(typing("The token is "+key), `"x"`, `"z"`, 1)
	write(t, filepath.Join(dir, "-p", "s.jsonl"), secret, day)
	write(t, filepath.Join(dir, "-q", "t.jsonl"), strings.ReplaceAll(prompt+done, `"cwd":"/p"`, `"cwd":"/q/sub"`), day)
	got, r := readAll(t, dir, map[string]string{"CLAUDE_MEM_EXCLUDED_PROJECTS": "/q/**"})
	if len(got) != 1 || strings.Contains(got[0], key) || !strings.Contains(got[0], "[redacted:") || r.Private != 3 || r.Excluded != 2 {
		t.Errorf("%d private, %d excluded: %v", r.Private, r.Excluded, got)
	}
	if err := r.Read(context.Background(), &Session{Path: filepath.Join(dir, "none.jsonl")}, nil); err != nil || len(r.Unreadable) != 1 {
		t.Errorf("%v, %v", err, r.Unreadable)
	}
}

// TestPlace: a project or worktree that is gone is that of its directory.
func TestPlace(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shop := filepath.Join(dir, "shop")
	if err := os.MkdirAll(filepath.Join(shop, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(shop, ".git", "HEAD"), "ref: refs/heads/today\n", day)
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(shop, ".git", d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	gone := filepath.Join(dir, "gone")
	tree := filepath.Join(shop, ".claude", "worktrees", "fix")
	r := &Reader{}
	r.Enter()
	for _, tt := range []struct{ start, cwd, project, root string }{
		{shop, filepath.Join(shop, "cmd"), shop, shop},
		{shop, filepath.Join(tree, "cmd"), shop, tree},
		{gone, filepath.Join(gone, "cmd"), gone, gone},
		{gone, dir, gone, dir},
	} {
		if id := r.place(tt.start, tt.cwd); id.Project != tt.project || id.WorktreeRoot != tt.root {
			t.Errorf("%s in %s is %s in %s, want %s in %s", tt.cwd, tt.start, id.WorktreeRoot, id.Project, tt.root, tt.project)
		}
	}
}

func TestIs(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]bool{prompt: true, "\n42\n" + prompt: true, `{"claude_mem_export":1}` + "\n": false, "": false} {
		file := filepath.Join(dir, "f.jsonl")
		write(t, file, name, day)
		if got := Is(file); got != want {
			t.Errorf("%.30q: %t", name, got)
		}
	}
	if n := Count(dir, day, 10); n != 0 { // the files are in folders
		t.Error(n)
	}
	write(t, filepath.Join(dir, "-p", "s.jsonl"), prompt, day)
	write(t, filepath.Join(dir, "-p", "agent-a.jsonl"), prompt, day)
	write(t, filepath.Join(dir, "-p", "old.jsonl"), prompt, day.AddDate(0, -2, 0))
	if n := Count(dir, day.AddDate(0, 0, -30), 10); n != 1 {
		t.Error(n)
	}
}

// TestOthers: a file of JSON lines is a transcript only if its records are of a session in a directory;
// the layout is known below "projects".
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	const note = `{"type":"user","message":{"role":"user","content":"hello"},"sessionId":"a","timestamp":"2024-04-06T10:22:58Z"}` + "\n"
	write(t, filepath.Join(dir, "projects", "-p", "s.jsonl"), prompt+done, day)
	write(t, filepath.Join(dir, "projects", "-p", "late.jsonl"), strings.ReplaceAll(note+prompt+done, `"sessionId":"s"`, `"sessionId":"a"`), day)
	write(t, filepath.Join(dir, "work", "notes.jsonl"), note, day)
	write(t, filepath.Join(dir, "work", "rows.jsonl"), `{"a":1}`+"\n", day)
	write(t, filepath.Join(dir, "work", "t.jsonl"), strings.ReplaceAll(prompt, `"sessionId":"s"`, `"sessionId":"t"`), day)
	folders, err := Find(dir, time.Time{})
	if err != nil || len(folders) != 2 {
		t.Fatal(err, folders)
	}
	for i, want := range []struct {
		known            bool
		sessions, others int
	}{{true, 2, 0}, {false, 1, 2}} {
		if f := &folders[i]; f.Known != want.known || len(f.Sessions) != want.sessions || f.Others[notTranscripts] != want.others {
			t.Errorf("%s: known %v, %d sessions, others %v, want %+v", f.Path, f.Known, len(f.Sessions), f.Others, want)
		}
	}
	left := t.TempDir()
	for _, name := range []string{"01/rollout-a.jsonl.zst", "storage/session/p/ses_1.json", "chats/session-1.json", "1/2/3/4/5/6/7/8/s.jsonl", "data.json"} {
		write(t, filepath.Join(left, name), "{}", day)
	}
	_ = os.Symlink(dir, filepath.Join(left, "all")) // Windows allows it to few
	_ = os.Symlink(filepath.Join(dir, "work", "t.jsonl"), filepath.Join(left, "t.jsonl"))
	counts := map[string]int{}
	if folders, err = Find(left, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		for why, n := range f.Others {
			counts[why] += n
		}
	}
	want := map[string]int{notRead: 2, notTranscripts: 1, notEntered: 1, notFollowed: 2}
	if diff := cmp.Diff(want, counts); diff != "" && runtime.GOOS != "windows" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if Is(filepath.Join(dir, "work", "notes.jsonl")) || !Is(filepath.Join(dir, "work", "t.jsonl")) {
		t.Error("a file without a directory is a transcript, or one with it is none")
	}
	lines, r := readAll(t, dir, nil)
	for _, l := range lines {
		if strings.Contains(l, "hello") {
			t.Errorf("%q has no directory and is given", l)
		}
	}
	if len(lines) != 3 || r.Counts.Broken != 1 {
		t.Errorf("%d broken: %q", r.Counts.Broken, lines)
	}
}
