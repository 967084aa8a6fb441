package main

import (
	"errors"
	"fmt"
	"io/fs"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/outline"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"

	"github.com/spf13/cobra"
)

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
Kotlin, C, C++, C#, Ruby, PHP and Swift. A file in another language has no symbols.

JSON: a list of {"file", "language", "broken", "symbols": [{"name", "kind", "signature",
"line_start", "line_end"}]}. language is "" for a file without symbols; broken means that
the code does not parse as a whole, so that symbols may be missing; kind is func, method,
type or test.`,
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
				if failed == nil {
					failed = err
				}
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
		if err != nil {
			return err
		}
		return failed
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

// readSource returns the contents of a source file.
func readSource(path string) ([]byte, error) {
	shown := print.Line(path, 120)
	src, _, err := openfile.Beginning(path, outline.MaxSize+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, memory.Errorf(memory.CodeNotFound, "there is no file %s", shown)
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
