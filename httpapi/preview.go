package httpapi

import (
	"net/http"
	"strings"

	"claudemem"
)

// contextPreview is a context block to look at, with what it would cost and why
// each of its lines is there.
type contextPreview struct {
	Text    string                `json:"context"`
	Tokens  int                   `json:"tokens"`
	Layers  []claudemem.LayerCost `json:"layers"`
	Skipped []claudemem.LayerCost `json:"skipped"`
	// Budget is what was asked for, 0 the setting's; EffectiveBudget what that came to.
	Budget          int           `json:"budget"`
	EffectiveBudget int           `json:"effective_budget"`
	BuildMS         float64       `json:"build_ms"`
	Source          string        `json:"source"`
	ProjectPath     string        `json:"project_path"`
	Lines           []previewLine `json:"lines"`
}

// previewLine is a line of the block and where it stands.
type previewLine struct {
	// Number counts the lines of the context, from 1.
	Number int `json:"number"`
	claudemem.ContextLine
}

// contextRequest is what the parameters of contextParams ask for.
func contextRequest(p params) claudemem.ContextRequest {
	return claudemem.ContextRequest{Host: claudemem.Host(p.text("host")).Canonical(), HostSessionID: p.text("session_id"),
		ProjectPath: p.text("project_path"), Source: p.text("source"), Budget: p.number("budget"),
		Checkout: claudemem.Checkout{Root: p.text("worktree_root"), Branch: p.text("branch"), HeadCommit: p.text("head_commit")}}
}

// preview shows the block that a session would be given which started now.
// Nobody is given it: it is not booked, no session has started, and what the
// user has to be told stays for a session that does.
func (a *api) preview(w http.ResponseWriter, r *http.Request, p params) error {
	req := contextRequest(p)
	req.Explain = true
	block, err := a.Previewer.Context(r.Context(), req)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, contextPreview{
		Text: block.Text, Tokens: block.Tokens, Layers: listOf(block.Layers), Skipped: listOf(block.Skipped),
		Budget: req.Budget, EffectiveBudget: block.Injection.Budget, BuildMS: block.BuildMS,
		Source: req.Source, ProjectPath: req.ProjectPath, Lines: numbered(block.Text, block.Lines),
	})
}

// numbered finds lines, which come in the order of the text, in it. One that is
// not there is left out: nobody could look at it.
func numbered(text string, lines []claudemem.ContextLine) []previewLine {
	out := []previewLine{}
	all := strings.Split(text, "\n")
	at := 0
	for _, l := range lines {
		first, _, _ := strings.Cut(strings.TrimLeft(l.Text, "\n"), "\n")
		for i := at; i < len(all); i++ {
			if all[i] == first {
				at = i + 1
				out = append(out, previewLine{at, l})
				break
			}
		}
	}
	return out
}

// listOf makes an absent list an empty one, where JSON would say null.
func listOf[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
