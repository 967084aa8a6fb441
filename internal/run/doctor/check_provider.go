package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/distil/model"
	"claudemem/internal/distil/model/claude"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/agentfiles"
)

// checkProvider checks that the model provider has its key and answers. If it may not
// ask it, it goes by the standing notices and the last calls.
func checkProvider(ctx context.Context, e *exam) ([]Finding, string) {
	s := e.settings()
	name := s.Text(settings.KeyProvider)
	var list []Finding
	key, baseURL := settings.ProviderKeys(name)
	if model.KeyNeeded(name) && s.Text(key) == "" && s.Text(baseURL) == "" {
		list = append(list, e.found("key-missing", "the provider is "+name+", and "+key+" is not set", "key", key))
	}
	asked := len(list) == 0 && e.Ask != nil && !slices.Contains([]string{settings.ProviderAuto, settings.ProviderClaude, settings.ProviderOffline}, name)
	if asked { // its answer counts more than what was noted of it before
		list = append(list, e.ask(ctx, name)...)
	} else {
		list = append(list, e.noted(name)...)
	}
	switch {
	case asked:
		return list, name + " answers"
	case name == settings.ProviderOffline:
		return list, "offline: no model"
	case name != settings.ProviderAuto:
		return list, name
	}
	if e.FindCLI != nil {
		if _, err := e.FindCLI(); err != nil {
			return list, "auto: no model, since there is no claude CLI"
		}
	}
	if e.HostDir != "" {
		if login := claude.ReadLogin(e.HostDir, e.Getenv); !login.ByItself {
			return list, "auto: no model, since the claude CLI has no login of its own. For one: " + login.Remedy()
		}
	}
	return list, "auto: claude for sessions of Claude Code, else no model"
}

// noted returns the findings about a provider by the worker's notices or, when there
// are none, by the last calls.
func (e *exam) noted(name string) (list []Finding) {
	if name == settings.ProviderAuto {
		name = settings.ProviderClaude
	}
	notices, _ := e.notices() // checkDatabase reports the error
	for _, n := range notices {
		if provider, class := n.Trouble(); provider == name {
			list = append(list, e.providerTrouble(provider, class, n))
		}
	}
	activity, _ := e.activity() // likewise
	for _, call := range activity.LastCalls {
		if call.Provider != name {
			continue
		}
		if call.Unusable >= manyUnusable {
			list = append(list, e.found("answers-unusable", fmt.Sprintf("%d of %s of %s could not be used", call.Unusable, text.Count(call.Answered, "answer"), call.Provider)))
		}
		if len(list) == 0 && !notFailures[call.Outcome] {
			list = append(list, e.found("calls-failing", fmt.Sprintf("the last call of %s failed %s (%s)", call.Provider, e.ago(call.At.Time()), call.Outcome)))
		}
	}
	return list
}

// manyUnusable is how many of a provider's newest answers have to be unusable to be
// reported: a single one was asked for again.
const manyUnusable = 2

// notFailures are the outcomes of calls that are no failure of the provider; lost is
// that of a call during which the worker died.
var notFailures = map[string]bool{"ok": true, "reserved": true, "canceled": true, "lost": true, memory.CallUnusable: true}

// ask sends the provider a request, which costs nothing, and returns a finding when it does not
// answer, or refuses the login; none when it refuses only this request.
func (e *exam) ask(ctx context.Context, provider string) []Finding {
	err := e.Ask(ctx, provider)
	if err == nil {
		return nil
	}
	failed, ok := errors.AsType[*memory.ModelError](err)
	if !ok {
		return []Finding{e.found("provider-away", "asked just now: "+err.Error())}
	}
	switch failed.Class {
	case memory.ClassLogin, memory.ClassQuota, memory.ClassRateLimit, memory.ClassTransient:
		return []Finding{e.providerTrouble(provider, failed.Class, accounts.Notice{Text: err.Error(), At: memory.MillisOf(e.now)})}
	}
	return nil // it answers, but not this request: many servers imitate only a part of the API
}

// providerTrouble returns the finding about a provider that does not answer, by the class of its
// error, with the text and time of the notice.
func (e *exam) providerTrouble(provider string, class memory.ErrorClass, n accounts.Notice) Finding {
	text := fmt.Sprintf("%s, %s", strings.TrimPrefix(oneLine(n.Text), "claude-mem: "), e.ago(n.At.Time()))
	switch {
	case class == memory.ClassLogin && provider == settings.ProviderClaude:
		f := e.found("login-refused", text)
		if login := claude.ReadLogin(e.HostDir, e.Getenv); e.HostDir != "" && !login.ByItself {
			f = f.instead(login.Remedy())
		}
		return f
	case class == memory.ClassLogin:
		key, _ := settings.ProviderKeys(provider)
		return e.found("key-refused", text, "key", key)
	case class == memory.ClassQuota:
		return e.found("provider-quota", text)
	case class == memory.ClassGarbage:
		return e.found("provider-refuses", text)
	}
	return e.found("provider-away", text)
}

// checkCaps reports the token caps that have been reached, by the notices that hold: that of a day
// holds for the day. The fix suggests twice the cap.
func checkCaps(_ context.Context, e *exam) ([]Finding, string) {
	notices, err := e.notices()
	if err != nil {
		return nil, unread(err)
	}
	s := e.settings()
	day, session := s.Int(settings.KeyDailyTokenCap), s.Int(settings.KeySessionTokenCap)
	var list []Finding
	for _, n := range notices {
		switch n.Key {
		case accounts.NoticeCapDay:
			list = append(list, e.found("cap-day", fmt.Sprintf("the %d tokens of the day are used up", day), "more", strconv.Itoa(2*day)))
		case accounts.NoticeCapSession:
			list = append(list, e.found("cap-session", fmt.Sprintf("a session has used its %d tokens", session), "more", strconv.Itoa(2*session)))
		}
	}
	return list, fmt.Sprintf("none reached: %s a day, %s a session", capText(day), capText(session))
}

// checkAgentFiles reports the projects some of whose agent files the worker could not
// write, while the setting is on.
func checkAgentFiles(_ context.Context, e *exam) ([]Finding, string) {
	on := e.settings().Items(settings.KeyAgentFiles)
	if len(on) == 0 || on[0] == "off" {
		return nil, "off"
	}
	notices, err := e.notices()
	if err != nil {
		return nil, unread(err)
	}
	var list []Finding
	for _, n := range notices {
		project, ok := strings.CutPrefix(n.Key, agentfiles.Notice)
		if _, err := os.Stat(project); ok && err == nil { // else it is gone, and so are its files
			list = append(list, e.found("agent-files-unwritten", n.Text, "project", project))
		}
	}
	return list, strings.Join(on, ", ") + ": no file was refused"
}

// checkExperiment tells of an experiment that runs, and reports what spoils it.
func checkExperiment(ctx context.Context, e *exam) ([]Finding, string) {
	s, err := e.database()
	if err != nil {
		return nil, unread(err)
	}
	t, err := s.Trial(ctx)
	if err != nil {
		return nil, unread(err)
	}
	off := ""
	for _, name := range slices.Sorted(maps.Keys(t.Places)) {
		if place, is := strings.CutPrefix(name, memory.PlaceOff+":"); is {
			off += "; switched off, as they did harm: lines at a " + strings.TrimSuffix(place, ":")
		}
	}
	if !t.Runs() {
		return nil, "off" + off
	}
	if on := e.settings().Items(settings.KeyAgentFiles); len(on) > 0 && on[0] != "off" {
		return []Finding{e.found("experiment-agent-files", fmt.Sprintf("experiment %d runs, and AGENT_FILES is %s", t.ID, strings.Join(on, ", ")))}, ""
	}
	return nil, fmt.Sprintf("experiment %d runs since %s: %s", t.ID, t.StartedAt.Time().Format(time.DateOnly), t.Said()+off)
}

// capText returns a token cap in words, "no cap" for 0.
func capText(n int) string {
	if n == 0 {
		return "no cap"
	}
	return text.Count(n, "token")
}
