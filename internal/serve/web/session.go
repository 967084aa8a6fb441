package web

import (
	"fmt"
	"strconv"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/serve/api"
)

// maxTurns bounds the turns of a session that its page shows, from the one after the
// parameter turn on.
const maxTurns = 50

// session shows a session by turns, and its receipt.
func (v *visit) session() view {
	q := request[api.SessionRequest](v, nil)
	q.Format = api.FormatFull
	records := ask(v, api.Memory.Session, q)
	named := api.ReceiptRequest{Name: strconv.FormatInt(int64(records.ID), 10)}
	receipt := ask(v, api.Memory.Receipt, named)
	turns := collect.Map(records.Turns(), func(t api.Turn) turn { return turnOf(t, false) })
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
		Given       givenTexts
		Strip       strip
		ReceiptJSON string
		Turns       []turn
		Next        string
	}{records, receipt, v.givenTo(records.ID), drawStrip(&records, ask(v, api.Memory.SessionEvents, named), receipt.Given), fmt.Sprintf("/api/sessions/%d/receipt", records.ID), shown, next}}
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
