package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"claudemem"
)

// maxBatch is how many observations are read at once: in full about 400 KB.
const maxBatch = 500

type batchBody struct {
	IDs    idList `json:"ids"`
	Format string `json:"format"`
	// Lookup is false when the client says itself, by POST /api/lookups, which of them
	// it has shown.
	Lookup *bool `json:"lookup"`
}

// idList is an array of ids, or a text with ids separated by commas.
type idList []json.RawMessage

func (l *idList) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return json.Unmarshal(raw, (*[]json.RawMessage)(l))
	}
	*l = nil
	for id := range strings.SplitSeq(text, ",") {
		*l = append(*l, json.RawMessage(strings.TrimSpace(id)))
	}
	return nil
}

// batch reads observations in the order asked for.
func (a *api) batch(w http.ResponseWriter, r *http.Request, _ params) error {
	var body batchBody
	if err := a.withBody(w, r, func(raw []byte) error { return decode(raw, &body) }); err != nil {
		return err
	}
	format, err := formatOf(body.Format, formatFull)
	if err != nil {
		return err
	}
	if len(body.IDs) == 0 || len(body.IDs) > maxBatch {
		return claudemem.Errorf(claudemem.CodeInvalid, "%d ids", len(body.IDs)).
			WithHint("send ids, an array of 1 to " + strconv.Itoa(maxBatch) + ` numbers such as 123 or "#123", or one string: "123,124"`)
	}
	ids := make([]claudemem.ObservationID, len(body.IDs))
	for i, raw := range body.IDs {
		text, err := bare(raw)
		if err != nil {
			text = string(raw)
		}
		if ids[i], err = observationNumber(text); err != nil {
			return err
		}
	}
	found, err := a.Records.ObservationsByIDs(r.Context(), ids...)
	if err != nil {
		return err
	}
	out := batchPage{Count: len(found), Total: len(ids), Format: format, Missing: []claudemem.ObservationID{}}
	if format == formatFull {
		out.Results = each(found, fullOf)
	} else {
		out.Results = each(found, indexOf)
	}
	there := map[claudemem.ObservationID]bool{}
	var read []claudemem.ObservationID
	for _, o := range found {
		if format == formatFull && !there[o.ID] && (body.Lookup == nil || *body.Lookup) {
			read = append(read, o.ID)
		}
		there[o.ID] = true
	}
	for _, id := range ids {
		if !there[id] {
			there[id] = true
			out.Missing = append(out.Missing, id)
		}
	}
	return a.answerLookup(w, r, http.StatusOK, out, read...)
}

// batchPage are the observations that were asked for; Total is how many were.
type batchPage struct {
	Count   int                       `json:"count"`
	Total   int                       `json:"total"`
	Format  string                    `json:"format"`
	Missing []claudemem.ObservationID `json:"missing"`
	Results any                       `json:"results"`
}

// observationNumber reads 123 and #123.
func observationNumber(text string) (claudemem.ObservationID, error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(text), "#"), 10, 64)
	if err != nil || id <= 0 {
		return 0, claudemem.Errorf(claudemem.CodeInvalid, "%.40q is no observation id", text).WithHint("ids are the numbers that lists show, such as 123")
	}
	return claudemem.ObservationID(id), nil
}

// What a memory may have of each: many times what anybody writes down, and few
// enough that one memory is no burden to a search.
const (
	maxFacts    = 200
	maxConcepts = 50
	maxPaths    = 1000
	maxType     = 40 // bytes
)

// memoryBody is an observation that a person or an agent writes down.
type memoryBody struct {
	Title         string           `json:"title"`
	Subtitle      string           `json:"subtitle"`
	Narrative     string           `json:"narrative"`
	Text          string           `json:"text"`
	Facts         []string         `json:"facts"`
	Concepts      []string         `json:"concepts"`
	Files         []string         `json:"files"`
	FilesRead     []string         `json:"files_read"`
	FilesModified []string         `json:"files_modified"`
	Type          string           `json:"type"`
	Project       string           `json:"project"`
	ProjectPath   string           `json:"project_path"`
	SessionID     json.RawMessage  `json:"session_id"`
	CreatedAt     json.RawMessage  `json:"created_at"`
	Origin        claudemem.Origin `json:"origin"`
}

// addMemory keeps what somebody writes down, and answers with it as it is kept.
func (a *api) addMemory(w http.ResponseWriter, r *http.Request, _ params) error {
	var body memoryBody
	if err := a.withBody(w, r, func(raw []byte) error { return decode(raw, &body) }); err != nil {
		return err
	}
	n, err := body.observation()
	if err != nil {
		return err
	}
	kept, err := a.Keeper.AddObservation(r.Context(), n)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, fullOf(kept))
}

// observation checks a body and fills in what may be left out.
func (b memoryBody) observation() (claudemem.NewObservation, error) {
	n := claudemem.NewObservation{
		ProjectPath: b.ProjectPath, Type: claudemem.ObservationType(strings.ToLower(strings.TrimSpace(b.Type))),
		Title: strings.TrimSpace(b.Title), Subtitle: b.Subtitle, Narrative: b.Narrative,
		Facts: b.Facts, Concepts: b.Concepts, Origin: b.Origin,
	}
	if n.ProjectPath == "" {
		n.ProjectPath = b.Project
	}
	if n.Narrative == "" {
		n.Narrative = b.Text
	}
	if n.Title == "" && strings.TrimSpace(n.Narrative) == "" {
		return n, claudemem.Errorf(claudemem.CodeInvalid, "neither title nor narrative").WithHint("send narrative, the text to be remembered, or at least a title")
	}
	if n.Title == "" {
		n.Title = titleOf(n.Narrative)
	}
	switch n.Origin {
	case "":
		n.Origin = claudemem.OriginUser
	case claudemem.OriginUser, claudemem.OriginAgent:
	default:
		return n, claudemem.Errorf(claudemem.CodeInvalid, "origin is %.40q", string(n.Origin)).WithHint("origin is user (default) or agent")
	}
	if n.Type == "" {
		n.Type = claudemem.TypeDiscovery
	}
	if err := checkType(n.Type); err != nil {
		return n, err
	}
	for _, list := range []struct {
		name         string
		length, most int
	}{{"facts", len(b.Facts), maxFacts}, {"concepts", len(b.Concepts), maxConcepts}, {"files", len(b.Files) + len(b.FilesRead) + len(b.FilesModified), maxPaths}} {
		if list.length > list.most {
			return n, claudemem.Errorf(claudemem.CodeInvalid, "%d %s", list.length, list.name).WithHint("at most " + strconv.Itoa(list.most) + "; write several memories")
		}
	}
	for _, list := range []struct {
		paths []string
		role  claudemem.FileRole
	}{{b.FilesModified, claudemem.FileModified}, {b.FilesRead, claudemem.FileRead}, {b.Files, claudemem.FileModified}} {
		for _, path := range list.paths {
			if path = strings.TrimSpace(path); path != "" {
				n.Files = append(n.Files, claudemem.FileRef{Path: path, Role: list.role})
			}
		}
	}
	session, err := bare(b.SessionID)
	if err != nil {
		return n, claudemem.Errorf(claudemem.CodeInvalid, "session_id is not a number").WithHint("session_id is a session's number, as 12 or S12")
	}
	if n.Session, err = sessionNumber(session); err != nil {
		return n, err
	}
	if n.ProjectPath == "" && n.Session == 0 {
		return n, claudemem.Errorf(claudemem.CodeInvalid, "no project").WithHint("send the project's root directory or its label as project, or session_id")
	}
	at, err := bare(b.CreatedAt)
	if err == nil && at != "" {
		var ok bool
		if n.CreatedAt, ok = readMoment(at, false); !ok {
			err = errMoment
		}
	}
	if err != nil {
		return n, claudemem.Errorf(claudemem.CodeInvalid, "created_at is %.40q", at).WithHint("created_at " + momentForms)
	}
	return n, nil
}

// checkType refuses what cannot be a type. Modes name their own, so there is no list.
func checkType(t claudemem.ObservationType) error {
	if t == "" || len(t) > maxType || strings.ContainsFunc(string(t), func(r rune) bool { return r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return claudemem.Errorf(claudemem.CodeInvalid, "type is %.40q", string(t)).WithHint("type is bugfix, feature, refactor, change, discovery, decision or another word of the mode")
	}
	return nil
}

var errMoment = claudemem.Errorf(claudemem.CodeInvalid, "no moment")

// bare is the text of a JSON string or number, "" for null and nothing.
func bare(raw json.RawMessage) (string, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return strings.TrimSpace(text), err
	default:
		var n json.Number
		err := json.Unmarshal(raw, &n)
		return n.String(), err
	}
}

// shortSentence is how short a sentence is, in bytes, that is none: "e.g.", "v1."
const shortSentence = 20

// titleOf is the first sentence of a text's first line, cut at a word.
func titleOf(text string) string {
	line := strings.TrimSpace(text)
	line, _, _ = strings.Cut(line, "\n")
	line = strings.Join(strings.Fields(line), " ")
	for i, c := range line {
		end := i + len(string(c))
		if strings.ContainsRune(".!?", c) && end >= shortSentence && strings.HasPrefix(line[end:], " ") || strings.ContainsRune("。！？", c) {
			line = strings.TrimSuffix(line[:end], ".")
			break
		}
	}
	return cutAtWord(line, maxTitle)
}

// editMemory changes what is kept of an observation.
func (a *api) editMemory(w http.ResponseWriter, r *http.Request, _ params) error {
	id, err := observationNumber(r.PathValue("id"))
	if err != nil {
		return err
	}
	var edit claudemem.ObservationEdit
	if err := a.withBody(w, r, func(raw []byte) error { return decode(raw, &edit) }); err != nil {
		return err
	}
	if edit == (claudemem.ObservationEdit{}) {
		return claudemem.Errorf(claudemem.CodeInvalid, "nothing is to be changed").WithHint("send title, narrative, type or pinned")
	}
	if edit.Title != nil && strings.TrimSpace(*edit.Title) == "" {
		return claudemem.Errorf(claudemem.CodeInvalid, "the title is empty").WithHint("leave title out to keep it")
	}
	if edit.Type != nil {
		lower := claudemem.ObservationType(strings.ToLower(strings.TrimSpace(string(*edit.Type))))
		if err := checkType(lower); err != nil {
			return err
		}
		edit.Type = &lower
	}
	changed, err := a.Keeper.EditObservation(r.Context(), id, edit)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, fullOf(changed))
}

// hidden tells how to bring an observation back, and until when.
type hidden struct {
	ID            claudemem.ObservationID `json:"id"`
	Hidden        bool                    `json:"hidden"`
	PurgedAtEpoch claudemem.Millis        `json:"purged_at_epoch,omitempty"`
	Restore       string                  `json:"restore"`
}

// hideMemory takes an observation out of everything that is shown and searched;
// it is purged later, unless the client asks for that not to be done, and can be
// restored until then.
func (a *api) hideMemory(w http.ResponseWriter, r *http.Request, p params) error {
	id, err := observationNumber(r.PathValue("id"))
	if err != nil {
		return err
	}
	purged, err := a.Keeper.HideObservation(r.Context(), id, p.flag("purge"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, hidden{ID: id, Hidden: true, PurgedAtEpoch: purged,
		Restore: "POST /api/observations/" + strconv.FormatInt(int64(id), 10) + "/restore"})
}

// restoreMemory undoes hideMemory.
func (a *api) restoreMemory(w http.ResponseWriter, r *http.Request, _ params) error {
	id, err := observationNumber(r.PathValue("id"))
	if err != nil {
		return err
	}
	restored, err := a.Keeper.RestoreObservation(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, fullOf(restored))
}
