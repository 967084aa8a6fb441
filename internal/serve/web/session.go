package web

import (
	"fmt"
	"strconv"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// maxTurns bounds the turns of a session that its page shows, from the one after the
// parameter turn on.
const maxTurns = 50

// turn is what one prompt of a session led to.
type turn struct {
	Number       int
	Prompt       *api.Prompt
	Summary      *api.Summary
	Observations []row
}

// session shows a session by turns, and its receipt.
func (v *visit) session() view {
	q := request[api.SessionRequest](v, nil)
	q.Format = api.FormatFull
	records := ask(v, api.Memory.Session, q)
	receipt := ask(v, api.Memory.Receipt, api.ReceiptRequest{Name: strconv.FormatInt(int64(records.ID), 10)})
	turns := turnsOf(&records)
	after, _ := strconv.Atoi(v.URL.Query().Get("turn")) // a word is as none
	after = min(max(0, after), len(turns))
	shown := turns[after:]
	next := ""
	if len(shown) > maxTurns {
		shown, next = shown[:maxTurns], fmt.Sprintf("/session/%d?turn=%d", records.ID, after+maxTurns)
	}
	return view{Title: fmt.Sprintf("S%d %s", records.ID, line(records.Title)), JSON: fmt.Sprintf("/api/sessions/%d", records.ID), Data: struct {
		api.SessionRecords
		Receipt     accounts.SessionReceipt
		ReceiptJSON string
		Turns       []turn
		Next        string
	}{records, receipt, fmt.Sprintf("/api/sessions/%d/receipt", records.ID), shown, next}}
}

// turnsOf returns the records of a session by turn: turns with a prompt in order, then those of
// which only other records are there.
func turnsOf(records *api.SessionRecords) []turn {
	var turns []turn
	at := map[int]int{}
	of := func(n int) *turn {
		i, known := at[n]
		if !known {
			i = len(turns)
			at[n] = i
			turns = append(turns, turn{Number: n})
		}
		return &turns[i]
	}
	for i := range records.Prompts {
		p := &records.Prompts[i]
		of(p.PromptNumber).Prompt = p
	}
	for i := range records.Observations {
		o := &records.Observations[i]
		t := of(o.Whole().PromptNumber)
		t.Observations = append(t.Observations, rowOf(&api.Hit{Kind: memory.RecordObservation, Observation: o}))
	}
	for i := range records.Summaries {
		s := &records.Summaries[i]
		of(s.PromptNumber).Summary = s
	}
	return turns
}

// sessions lists the sessions, the most recently updated first.
func (v *visit) sessions() view {
	q := request[api.SessionsRequest](v, nil)
	found := ask(v, api.Memory.Sessions, q)
	v.checkProject(q.Project, found.Total)
	older := pagerOf("/sessions", api.Values(q), q.Offset, q.Limit, found.Count, found.Total).Older
	return view{Title: "Sessions", JSON: inAPI(api.Memory.Sessions, q), Data: struct {
		api.Page[api.SessionDigest]
		Project string
		Older   string
	}{found, q.Project, older}}
}
