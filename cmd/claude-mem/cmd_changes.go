package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/outline"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text/cells"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// changesCommand returns the command `claude-mem changes`: list the functions and types
// that sessions changed.
func (a *app) changesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "changes",
		Short: "List the functions and types that sessions changed",
		Long: `List the functions, methods and types that sessions added, modified or deleted, file by
file, the latest change first. What a session did to one of them is one change: one that it
added and removed again is none. Formatting and comments do not count.

Times: 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w.`,
		Example: `  claude-mem changes --since 2d
  claude-mem changes --session S12
  claude-mem changes --file src/cart.ts --name Cart.add
  claude-mem changes --all --json`,
	}
	f := a.changesFlags(cmd)
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		r, err := f.request(a)
		if err != nil {
			return err
		}
		found, err := m.Symbols(ctx, r)
		return cli.Answer(a.App, found, err, cli.EmptyPage[api.Symbol](f.page), func(p *print.Printer) error {
			printChanges(p, found.Results, r.Project == "")
			switch {
			case f.page.NoteRest(a.App, len(found.Results), found.Total, "change"):
			case f.filtered():
				a.Note("No changed function or type passes the filter.")
			case r.Project != "":
				a.Note("No changed functions or types in %s. `--all` lists those of all projects.", r.Project)
			default:
				a.Note("No changed functions or types yet.")
			}
			return nil
		})
	})
}

// changesFlags are the flags of changes.
type changesFlags struct {
	api.SymbolsRequest
	scope   *cli.Scope
	page    *cli.Page
	times   *cli.Times
	session string
}

// changesFlags adds the flags of changes to cmd and returns where their values will be.
func (a *app) changesFlags(cmd *cobra.Command) *changesFlags {
	f := &changesFlags{scope: a.ScopeFlags(cmd), page: cli.PageFlags(cmd, 30), times: cli.AddTimes(cmd)}
	flags := cmd.Flags()
	flags.StringVarP(&f.session, "session", "s", "", "changes of this session, such as S12, in any project")
	flags.StringSliceVarP(&f.Files, "file", "f", nil, "paths, folders or parts of file names")
	flags.StringVar(&f.Name, "name", "", "name of a function or type: add, Cart.add")
	cli.CompleteFlag(cmd, "session", a.SessionChoices())
	return f
}

// filtered reports whether there is a filter beside the project.
func (f *changesFlags) filtered() bool {
	return f.session != "" || *f.times != (cli.Times{}) || f.Name != "" || len(f.Files) > 0
}

// request returns the request of the flags; CodeInvalid for a session or a time that cannot
// be parsed. A session is of one project: without --project that counts.
func (f *changesFlags) request(a *app) (r api.SymbolsRequest, err error) {
	r = f.SymbolsRequest
	of := f.scope
	if f.session != "" && *f.scope.Named == "" {
		of = nil
	}
	if r.Paged, err = f.page.Paged(of); err != nil {
		return r, err
	}
	if r.Session, err = api.SessionNumber(f.session); err != nil {
		return r, err
	}
	r.Since, r.Until, err = f.times.Parse(a.Now())
	return r, err
}

// printChanges prints changes file by file, the files in the order of their first change. The
// deleted half of a renamed symbol is left out: the other one names it.
func printChanges(p *print.Printer, found []api.Symbol, withProject bool) {
	projects := map[memory.SessionID]string{}
	all := collect.MapPtr(found, func(s *api.Symbol) memory.SymbolChange {
		projects[s.SessionDBID] = s.Project
		return s.Change()
	})
	type file struct{ project, path string }
	files, in := collect.Group(memory.WithoutOldNames(all), func(c *memory.SymbolChange) file { return file{projects[c.Session], c.FilePath} })
	for _, f := range files {
		p.Heading(print.Join("  ", print.Line(f.path, 0), print.If(withProject, print.Line(f.project, 60))))
		for _, c := range in[f] {
			mark, session := "["+print.Line(c.Mark(), 80)+"]", c.Session.Name()
			rest := 16 + cells.Width(mark+session)
			p.Printf("%s  %s  %s  %s\n", p.When(c.SnapshotAt), p.Fit(c.Declaration(), 200, rest), mark, p.Style(print.Dim, session))
		}
	}
}

// outlineJSON is a file with its symbols.
type outlineJSON struct {
	File     string           `json:"file"`
	Language string           `json:"language"`
	Broken   bool             `json:"broken"`
	Symbols  []outline.Symbol `json:"symbols"`
}

// outlineCommand returns the command `claude-mem outline`: show the functions, methods
// and types of source files.
func (a *app) outlineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outline FILE...",
		Short: "Show the functions, methods and types of source files",
		Long: `Show the functions, methods, types and named tests of source files, with their lines
and signatures. A function inside of a function belongs to the outer one.

Languages: Go, TypeScript, JavaScript (also JSX, Vue and Svelte), Python, Rust, Java,
Kotlin, C, C++, C#, Ruby, PHP and Swift. A file in another language has no symbols.`,
		Example: "  claude-mem outline src/cart.ts\n  claude-mem outline --json store/claim.go store/confirm.go",
	}
	cmd.ValidArgsFunction = cli.FileNames
	a.JSONFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, files []string) error {
		outlines := make([]outlineJSON, 0, len(files))
		var failed error // of the first file that cannot be read; the others are shown
		for _, file := range files {
			o, err := outlineOf(file)
			if err != nil {
				failed = cmp.Or(failed, err)
				continue
			}
			outlines = append(outlines, o)
		}
		if len(outlines) == 0 {
			return failed
		}
		err := a.Show(outlines, func(p *print.Printer) {
			for i, o := range outlines {
				if i > 0 {
					p.Printf("\n")
				}
				printOutline(p, o)
				a.noteOutline(o)
			}
		})
		return cmp.Or(err, failed)
	}
	return cmd
}

// outlineOf reads the symbols of a file. It refuses directories, devices and files larger
// than outline.MaxSize.
func outlineOf(file string) (outlineJSON, error) {
	src, err := readSource(file)
	if err != nil {
		return outlineJSON{}, err
	}
	found := outline.Of(file, src)
	return outlineJSON{file, found.Language, found.Broken, print.NotNil(found.Symbols)}, nil
}

// readSource returns the contents of a source file. CodeNotFound without it, CodeTooLarge above
// outline.MaxSize, CodeInvalid for what is no regular file or cannot be read.
func readSource(path string) ([]byte, error) {
	shown := print.Line(path, 120)
	src, _, err := openfile.Beginning(path, outline.MaxSize+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, memory.Errorf(memory.CodeNotFound, "there is no file %s", shown).WithHint("name source files, as in `claude-mem outline src/cart.ts`")
	case errors.Is(err, openfile.ErrNotRegular):
		return nil, memory.Errorf(memory.CodeInvalid, "%s is not a regular file", shown).WithHint("name source files, as in `claude-mem outline src/cart.ts`")
	case err != nil:
		return nil, memory.Errorf(memory.CodeInvalid, "read %s: %w", shown, err)
	case len(src) > outline.MaxSize:
		return nil, memory.Errorf(memory.CodeTooLarge, "%s is larger than %d MB", shown, outline.MaxSize>>20)
	}
	return src, nil
}

// printOutline prints the name of a file, and the lines and the signature of each symbol: after
// its qualified name where it belongs to another symbol.
func printOutline(p *print.Printer, o outlineJSON) {
	p.Heading(print.Line(o.File, 0))
	for _, s := range o.Symbols {
		lines := fmt.Sprintf("%5d-%-5d", s.Start, s.End)
		p.Printf("  %s  %s  %s\n", p.Style(print.Dim, lines), print.Line(s.Name, 80), p.Style(print.Dim, print.Line(s.Signature, 0)))
	}
}

// noteOutline writes to standard error why a file shows no symbols, or fewer than it has.
func (a *app) noteOutline(o outlineJSON) {
	file := print.Line(o.File, 120)
	switch {
	case o.Language == "":
		a.Note("%s: the language is not supported", file)
	case o.Broken:
		a.Note("%s: the code does not parse as a whole; symbols may be missing", file)
	case len(o.Symbols) == 0:
		a.Note("%s: no symbols", file)
	}
}
