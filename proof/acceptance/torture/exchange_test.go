//go:build unix

package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"
)

const (
	// foreign is how the projects of records that TestTorture imports begin.
	foreign = "/home/ada/tally-"
	// foreignRecords is how many observations a file has that TestTorture imports: enough for
	// several transactions.
	foreignRecords = 400
)

// writeForeign writes a file with the records of a project that this memory does not have.
func (m *tortured) writeForeign() (file, project string) {
	m.T.Helper()
	m.exports++
	file = filepath.Join(m.Home, fmt.Sprintf("foreign-%d.jsonl", m.exports))
	project = fmt.Sprintf("%s%d-", foreign, m.exports)
	world.WriteExport(m.T, file, project, 1000*m.exports, foreignRecords)
	return file, project
}

// foreignKept returns how many records of a project there are, and how many of them are
// there twice.
func (m *tortured) foreignKept(project string) (records, doubled int) {
	for table, text := range map[string]string{"sessions": "host_session_id", "prompts": "text", "observations": "title", "session_summaries": "request"} {
		n := m.QueryOne("SELECT count(*) FROM "+table+" WHERE project = ?", project)
		records += n
		doubled += n - m.QueryOne("SELECT count(DISTINCT "+text+") FROM "+table+" WHERE project = ?", project)
	}
	return records, doubled
}

// kept names how much there is of the records of a file of writeForeign.
func kept(records int) string {
	switch records {
	case 0:
		return "with none of the records there"
	case foreignRecords + 3:
		return "with all records there"
	}
	return "with a part of the records there"
}

// killOne kills a command, or the worker in one of three kill points, and returns which.
func (m *tortured) killOne(command func() bool, wait func() error) string {
	if m.random.IntN(3) > 0 {
		command()
		return "command"
	}
	m.killWorker()
	_ = wait() // it may have failed
	return "worker"
}

// inExport kills the command that writes an export, or the worker beside it. The file is whole
// or not there.
func (m *tortured) inExport() string {
	m.exports++
	file := filepath.Join(m.Home, fmt.Sprintf("export-%d.jsonl", m.exports))
	wait := m.play(2, 1)
	cmd := m.Start("export", file)
	m.waitPart(m.pace["command"])
	by := m.killOne(func() bool { return m.kill(cmd) }, cmd.Wait)
	wait()
	m.complete = func() {
		m.MustCommand("export", "--force", file)
		if m.readExport(file) == 0 {
			m.T.Error("the export has no records")
		}
		var again struct{ Added memory.PortableCounts }
		if err := json.Unmarshal(m.MustCommand("import", "--yes", "--json", file), &again); err != nil || again.Added != (memory.PortableCounts{}) {
			m.T.Errorf("of this memory's own export %+v were added to it, %v", again.Added, err)
		}
	}
	if _, err := os.Lstat(file); err != nil {
		return by + " before the file had its name"
	}
	m.readExport(file)
	return by + " with the file complete"
}

// readExport reads an export to its last line and returns how many records it has.
func (m *tortured) readExport(path string) (records int) {
	m.T.Helper()
	f, err := os.Open(path)
	if err != nil {
		m.T.Fatal(err)
	}
	defer f.Close()
	r, _, err := exchange.NewReader(f)
	for ; err == nil; records++ {
		_, _, err = r.Next()
	}
	if !errors.Is(err, io.EOF) {
		m.T.Errorf("the export cannot be read: %v", err)
	}
	return records - 1 // the last one was its end
}

// inImport kills the command that imports a file, or the worker that does it for it. Repeated,
// it completes, and each record is there once.
func (m *tortured) inImport() string {
	file, project := m.writeForeign()
	wait := m.play(2, 1)
	cmd := m.Start("import", "--yes", file)
	m.waitPart(m.pace["import"])
	by := m.killOne(func() bool { return m.kill(cmd) }, cmd.Wait)
	wait()
	m.complete = func() {
		m.MustCommand("import", "--yes", file)
		if records, doubled := m.foreignKept(project); records != foreignRecords+3 || doubled > 0 {
			m.T.Errorf("imported again: %d records, %d of them twice; want %d", records, doubled, foreignRecords+3)
		}
	}
	records, _ := m.foreignKept(project)
	return by + " " + kept(records)
}

// inForget kills the command that forgets a project. Repeated, it completes: no file of the
// memory names the project, and an import does not bring it back.
func (m *tortured) inForget() string {
	file, project := m.writeForeign()
	m.MustCommand("import", "--yes", file)
	wait := m.play(2, 1)
	cmd := m.Start("forget", "--yes", "--project", project)
	m.waitMoment(m.pace["forget"], "forgetting.json")
	m.kill(cmd)
	wait()
	_, unfinished := os.Lstat(filepath.Join(m.Dir, "forgetting.json"))
	records, _ := m.foreignKept(project)
	m.complete = func() {
		if now, _ := m.foreignKept(project); now != 0 && now != foreignRecords+3 {
			m.T.Errorf("%d records of a project that was being forgotten are there", now)
		}
		_, _ = m.Command("forget", "--yes", "--project", project) // fails when nothing is left of it
		if found := m.naming(project); len(found) > 0 {
			m.T.Errorf("%v name a project that was forgotten", found)
		}
		m.MustCommand("import", "--yes", file)
		if now, _ := m.foreignKept(project); now > 0 {
			m.T.Errorf("an import brought %d forgotten records back", now)
		}
	}
	switch {
	case unfinished == nil && records == 0:
		return "with the records erased, not yet what is left in files"
	case unfinished == nil:
		return "with the records about to be erased"
	case records == 0:
		return "complete"
	}
	return "before anything was erased"
}

// naming returns the files of the data directory that name a project, without those of
// databases that a restore has set aside: forget says that they may have it.
func (m *tortured) naming(project string) (files []string) {
	m.EachFile(func(path string, content []byte) {
		if !strings.Contains(path, "/aside/") && strings.Contains(string(content), project) {
			files = append(files, path)
		}
	})
	return files
}
