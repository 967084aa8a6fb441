package httpapi

import (
	"net/http"
	"strconv"

	"claudemem"
)

// learningResult is a learning as answers show it.
type learningResult struct {
	Project string `json:"project"`
	claudemem.Learning
}

func learningOf(l claudemem.Learning) learningResult {
	return learningResult{Project: label(l.ProjectPath), Learning: l}
}

// learningPage is a page of learnings.
type learningPage struct {
	Count   int              `json:"count"`
	Total   int              `json:"total"`
	Limit   int              `json:"limit"`
	Offset  int              `json:"offset"`
	Results []learningResult `json:"results"`
}

func (a *api) listLearnings(w http.ResponseWriter, r *http.Request, p params) error {
	q := claudemem.LearningQuery{Project: p.text("project"), Category: p.text("category"), Retired: p.flag("all"),
		Limit: p.number("limit"), Offset: p.number("offset")}
	found, err := a.Learnings.Learnings(r.Context(), q)
	if err != nil {
		return err
	}
	total, err := a.Learnings.CountLearnings(r.Context(), q)
	if err != nil {
		return err
	}
	page := learningPage{Count: len(found), Total: total, Limit: q.Limit, Offset: q.Offset, Results: make([]learningResult, len(found))}
	for i, l := range found {
		page.Results[i] = learningOf(l)
	}
	return writeJSON(w, http.StatusOK, page)
}

type newLearning struct {
	ProjectPath string   `json:"project_path"`
	Project     string   `json:"project"`
	Category    string   `json:"category"`
	Content     string   `json:"content"`
	Confidence  *float64 `json:"confidence"`
}

// addLearning takes in what a person says of a project; without a confidence it is certain.
func (a *api) addLearning(w http.ResponseWriter, r *http.Request) error {
	var body newLearning
	if err := a.withBody(w, r, func(raw []byte) error { return decode(raw, &body) }); err != nil {
		return err
	}
	l := claudemem.Learning{ProjectPath: body.ProjectPath, Category: body.Category, Content: body.Content, Confidence: 1}
	if l.ProjectPath == "" {
		l.ProjectPath = body.Project
	}
	if body.Confidence != nil {
		l.Confidence = *body.Confidence
	}
	if l.ProjectPath == "" {
		return claudemem.Errorf(claudemem.CodeInvalid, "no project_path").WithHint("send the project's root directory as project_path")
	}
	l, err := a.Learnings.AddLearning(r.Context(), l)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, learningOf(l))
}

func (a *api) editLearning(w http.ResponseWriter, r *http.Request) error {
	id, err := learningID(r)
	if err != nil {
		return err
	}
	var edit claudemem.LearningEdit
	if err := a.withBody(w, r, func(raw []byte) error { return decode(raw, &edit) }); err != nil {
		return err
	}
	if edit == (claudemem.LearningEdit{}) {
		return claudemem.Errorf(claudemem.CodeInvalid, "nothing is to be changed").
			WithHint("send category, content, confidence or active")
	}
	return a.changeLearning(w, r, id, edit)
}

// retireLearning takes a learning out of use; its row stays, so that no observer
// brings it back.
func (a *api) retireLearning(w http.ResponseWriter, r *http.Request) error {
	id, err := learningID(r)
	if err != nil {
		return err
	}
	retired := false
	return a.changeLearning(w, r, id, claudemem.LearningEdit{Active: &retired})
}

func (a *api) changeLearning(w http.ResponseWriter, r *http.Request, id int64, edit claudemem.LearningEdit) error {
	l, err := a.Learnings.EditLearning(r.Context(), id, edit)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, learningOf(l))
}

func learningID(r *http.Request) (int64, error) {
	asked := r.PathValue("id")
	id, err := strconv.ParseInt(asked, 10, 64)
	if err != nil || id <= 0 {
		return 0, claudemem.Errorf(claudemem.CodeInvalid, "%.40q is no learning id", asked).WithHint("ids are the numbers that lists show, such as 7")
	}
	return id, nil
}

// statusline is asked by the status line of hosts at every turn: it reads
// counts and nothing else.
func (a *api) statusline(w http.ResponseWriter, r *http.Request, p params) error {
	request := claudemem.StatusRequest{Host: claudemem.Host(p.text("host")).Canonical(), HostSessionID: p.text("session_id"), ProjectPath: p.text("project_path")}
	line, err := a.Status.Statusline(r.Context(), request)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, line)
}
