package web

import (
	"fmt"
	"net/url"
	"strconv"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// givenLimit is the number of texts on a page: a block has thirty lines.
const givenLimit = 10

// givenTexts are texts that sessions were given, for the template given; More is the address of others.
type givenTexts struct {
	Texts    []accounts.Given
	CanJudge bool
	More     string
}

// givenTo returns what a session was given last, the newest first.
func (v *visit) givenTo(session memory.SessionID) givenTexts {
	if session == 0 {
		return givenTexts{}
	}
	found := ask(v, api.Memory.Given, api.GivenRequest{Session: session, Dated: api.Dated{Paged: api.Paged{Limit: givenLimit}}})
	more := ""
	if found.Total > found.Count {
		more = fmt.Sprintf("/given?offset=%d&session_id=S%d", found.Count, session)
	}
	for i := range found.Results {
		found.Results[i].Title = "" // the page is the session's
	}
	return givenTexts{found.Results, v.token != "", more}
}

// given lists what sessions were given, the newest first.
func (v *visit) given() view {
	q := request[api.GivenRequest](v, url.Values{"limit": {strconv.Itoa(givenLimit)}})
	found := ask(v, api.Memory.Given, q)
	v.checkProject(q.Project, found.Total)
	sent := withoutPage(q)
	return view{Title: "Given", JSON: inAPI(api.Memory.Given, q), Data: struct {
		givenTexts
		menu
		pager
		Session  memory.SessionID
		Filtered bool
	}{givenTexts{found.Results, v.token != "", ""}, v.projectMenu("/given", sent, q.Project), pagerOf("/given", sent, q.Offset, givenLimit, found.Count, found.Total), q.Session, len(sent) > 0}}
}

// impact shows what the memory changes, by the latest experiment.
func (v *visit) impact() view {
	q := request[api.ImpactRequest](v, nil)
	return view{Title: "Impact", JSON: inAPI(api.Memory.Impact, q), Data: new(ask(v, api.Memory.Impact, q))}
}

// thumb is a button that sends a verdict on the record of a line.
type thumb struct {
	Record, Verdict string
	Session         memory.SessionID
	Pressed, Can    bool
}

func thumbOf(l accounts.GivenLine, verdict string, session memory.SessionID, can bool) thumb {
	return thumb{l.Record, verdict, session, l.Person == memory.Up && verdict == "up" || l.Person == memory.Down && verdict == "down", can}
}
