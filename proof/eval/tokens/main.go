// Command tokens writes texts of many kinds with what memory.EstimateTokens
// makes of them, one JSON object a line, for count.mjs, which compares with real
// tokenizers. docs/token-estimate.md has the way and the result.
//
//	npm install --prefix /tmp/tokenizers @anthropic-ai/tokenizer@0.0.4 tiktoken@1.0.22
//	go run ./proof/eval/tokens | NODE_PATH=/tmp/tokenizers/node_modules node proof/eval/tokens/count.mjs
//
// All texts are this repository's own.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"claudemem/internal/memory"
)

// sample is a text of a kind.
type sample struct {
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	Estimate int    `json:"estimate"`
}

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "eval/tokens:", err)
		os.Exit(1)
	}
}

func write() error {
	samples, err := collect()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	lines := json.NewEncoder(out)
	for _, s := range samples {
		s.Estimate = memory.EstimateTokens(s.Text)
		if err := lines.Encode(s); err != nil {
			return err
		}
	}
	return out.Flush()
}

// collect reads the texts; the working directory is the module's.
func collect() (all []sample, err error) {
	records, err := records(filepath.Join("proof", "eval", "testdata", "relevance", "docs.jsonl"))
	if err != nil {
		return nil, err
	}
	all = append(all, records...)
	for _, from := range []struct {
		kind, glob string
		parts      func(string) []string
	}{
		{"prose: documentation", "docs/*.md", paragraphs},
		{"prose: documentation", "*.md", paragraphs},
		{"code: Go", "internal/*/*/*.go", pieces},
		{"code: Python, JavaScript, shell", "internal/run/recorded/testdata/projects/*/*.*", program},
		{"code: Python, JavaScript, shell", "internal/run/recorded/testdata/projects/*/*/*.*", program},
		{"JSON: payloads of hooks", "internal/run/recorded/sessions/*/*.json", whole},
		{"own context blocks", "internal/find/recall/block/testdata/*.golden", whole},
		{"own records as text", "proof/acceptance/capture/testdata/offline-memory.golden.md", paragraphs},
	} {
		files, err := filepath.Glob(filepath.FromSlash(from.glob))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("no file is named %s: the working directory must be the module's", from.glob)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) || !utf8.Valid(text) {
				continue
			}
			if err != nil {
				return nil, err
			}
			// Golden files hold hostile inputs too; what they show is what is measured.
			for _, part := range from.parts(name + "\n" + string(text)) {
				all = append(all, sample{Kind: from.kind, Text: part})
			}
		}
	}
	for kind, text := range foreign {
		for line := range strings.Lines(text) {
			all = append(all, sample{Kind: kind, Text: strings.TrimSpace(line)})
		}
	}
	slices.SortStableFunc(all, func(a, b sample) int { return strings.Compare(a.Kind, b.Kind) })
	return all, nil
}

// records are the observations of our own corpus, each as a title with its text
// and as a line of a context block.
func records(path string) (all []sample, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		var d struct {
			Kind, Project, Title, Text string
			Facts                      []string
		}
		if err := json.Unmarshal(line, &d); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if d.Kind != "observation" {
			continue
		}
		language := map[string]string{"kiroku": "CJK: Japanese", "stockwerk": "prose: German"}[d.Project]
		if language == "" {
			language = "prose: English records"
		}
		all = append(all, sample{Kind: language, Text: d.Title + "\n" + d.Text + "\n" + strings.Join(d.Facts, "\n")})
		if language == "prose: English records" {
			language = "own block lines, English"
		} else {
			language = "own block lines, " + strings.TrimPrefix(strings.TrimPrefix(language, "CJK: "), "prose: ")
		}
		first, _, _ := strings.Cut(d.Text, ". ")
		if i := strings.Index(first, "。"); i >= 0 {
			first = first[:i]
		}
		all = append(all, sample{Kind: language, Text: fmt.Sprintf("- %s: %s (#%d)", d.Title, first, 100+len(all))})
	}
	return all, nil
}

// paragraphs are those that are text: no tables, headings, code.
func paragraphs(text string) (parts []string) {
	_, text, _ = strings.Cut(text, "\n")
	for p := range strings.SplitSeq(text, "\n\n") {
		p = strings.TrimSpace(p)
		if len(p) >= 80 && !strings.HasPrefix(p, "|") && !strings.HasPrefix(p, "#") && !strings.HasPrefix(p, "```") && !strings.Contains(p, "    ") {
			parts = append(parts, p)
		}
	}
	return parts
}

// pieceLines is about what a tool shows at once.
const pieceLines = 40

// pieces are runs of lines.
func pieces(text string) (parts []string) {
	_, text, _ = strings.Cut(text, "\n")
	for chunk := range slices.Chunk(strings.SplitAfter(text, "\n"), pieceLines) {
		if part := strings.Join(chunk, ""); len(part) >= 200 {
			parts = append(parts, part)
		}
	}
	return parts
}

// program takes the pieces of files in those languages.
func program(text string) []string {
	name, _, _ := strings.Cut(text, "\n")
	if !slices.Contains([]string{".py", ".js", ".sh"}, filepath.Ext(name)) {
		return nil
	}
	return pieces(text)
}

func whole(text string) []string {
	_, text, _ = strings.Cut(text, "\n")
	if text == "" {
		return nil
	}
	return []string{text}
}
