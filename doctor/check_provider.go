package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"claudemem"
	"claudemem/settings"
	"claudemem/store"
)

// The beginnings of the keys of the notices of a provider and of caps.
const (
	noticeProvider = "provider_"
	noticeCap      = "cap_"
)

// keyNeeded are the providers whose own endpoint wants a key.
var keyNeeded = map[string]string{
	"anthropic":  settings.KeyAnthropicAPIKey,
	"openai":     settings.KeyOpenAIAPIKey,
	"openrouter": settings.KeyOpenRouterAPIKey,
	"gemini":     settings.KeyGeminiAPIKey,
}

func checkProvider(ctx context.Context, e *exam) []Finding {
	s := e.settings()
	name := s.Text(settings.KeyProvider)
	var list []Finding
	if key, ok := keyNeeded[name]; ok && s.Text(key) == "" && s.Text(strings.TrimSuffix(key, "_API_KEY")+"_BASE_URL") == "" {
		list = append(list, e.found("key-missing", "the provider is "+name+", and "+key+" is not set", "key", key))
	}
	asked := len(list) == 0 && e.Ask != nil && hasAPI(name)
	if asked {
		list = append(list, e.ask(ctx, name)...)
	}
	notices, _ := e.notices() // the database check tells
	told := asked             // what it says now counts, not what it said
	if asked {
		notices = nil
	}
	for _, n := range notices {
		of, class, ok := providerNotice(n.Key)
		// What is noted of a provider that is not asked any more says nothing.
		if !ok || of != name && (name != providerAuto || of != providerClaude) {
			continue
		}
		told = true
		list = append(list, e.providerTrouble(of, class, n))
	}
	if activity, err := e.activity(); err == nil && !told {
		for _, call := range activity.LastCalls {
			if call.Provider == name || name == providerAuto && call.Provider == providerClaude {
				list = append(list, e.lastCall(call)...)
			}
		}
	}
	if len(list) > 0 {
		return list
	}
	switch name {
	case providerAuto:
		if e.FindCLI != nil {
			if _, err := e.FindCLI(); err != nil {
				return []Finding{fine("auto: no model, since there is no claude CLI")}
			}
		}
		return []Finding{fine("auto: claude for sessions of Claude Code, else no model")}
	case providerOffline:
		return []Finding{fine("offline: no model")}
	}
	if asked {
		return []Finding{fine("%s answers", name)}
	}
	return []Finding{fine("%s", name)}
}

// hasAPI reports whether a provider can be asked over HTTP.
func hasAPI(provider string) bool {
	return provider != providerAuto && provider != providerClaude && provider != providerOffline
}

// ask asks the provider and tells what keeps it from answering.
func (e *exam) ask(ctx context.Context, provider string) []Finding {
	err := e.Ask(ctx, provider)
	if err == nil {
		return nil
	}
	var failed *claudemem.ModelError
	if !errors.As(err, &failed) {
		return []Finding{e.found("provider-away", "asked just now: "+err.Error())}
	}
	switch failed.Class {
	case claudemem.ClassLogin, claudemem.ClassQuota, claudemem.ClassRateLimit, claudemem.ClassTransient:
		return []Finding{e.providerTrouble(provider, failed.Class, store.Notice{Text: err.Error(), At: claudemem.MillisOf(e.now)})}
	}
	return nil // it answers, if not to this question: many servers imitate only the rest
}

// providerNotice takes provider_NAME_CLASS apart.
func providerNotice(key string) (provider string, class claudemem.ErrorClass, ok bool) {
	rest, ok := strings.CutPrefix(key, noticeProvider)
	if !ok {
		return "", "", false
	}
	for _, class := range []claudemem.ErrorClass{claudemem.ClassLogin, claudemem.ClassQuota, claudemem.ClassRateLimit, claudemem.ClassTransient} {
		if provider, ok := strings.CutSuffix(rest, "_"+string(class)); ok {
			return provider, class, true
		}
	}
	return rest, "", true
}

func (e *exam) providerTrouble(provider string, class claudemem.ErrorClass, n store.Notice) Finding {
	text := fmt.Sprintf("%s, %s", strings.TrimPrefix(oneLine(n.Text), "claude-mem: "), e.ago(n.At.Time()))
	switch class {
	case claudemem.ClassLogin:
		if key, ok := keyNeeded[provider]; ok {
			return e.found("key-refused", text, "key", key)
		}
		if provider == providerClaude {
			return e.found("login-refused", text)
		}
		return e.found("key-refused", text, "key", "CLAUDE_MEM_"+strings.ToUpper(provider)+"_API_KEY")
	case claudemem.ClassQuota:
		return e.found("provider-quota", text)
	}
	return e.found("provider-away", text)
}

// Outcomes of calls in the ledger that say nothing of the provider; lost is of a
// worker that died in it.
var settled = map[string]bool{"ok": true, "reserved": true, "canceled": true, "lost": true}

func (e *exam) lastCall(call store.LastCall) []Finding {
	if settled[call.Outcome] {
		return nil
	}
	return []Finding{e.found("calls-failing", fmt.Sprintf("the last call of %s failed %s (%s)", call.Provider, e.ago(call.At.Time()), call.Outcome))}
}

func checkCaps(_ context.Context, e *exam) []Finding {
	notices, err := e.notices()
	if err != nil {
		return unread(err)
	}
	s := e.settings()
	day, session := s.Int(settings.KeyDailyTokenCap), s.Int(settings.KeySessionTokenCap)
	var list []Finding
	for _, n := range notices {
		switch n.Key {
		case noticeCap + "day":
			list = append(list, e.found("cap-day", fmt.Sprintf("the %d tokens of the day are used up", day), "more", strconv.Itoa(2*day)))
		case noticeCap + "session":
			list = append(list, e.found("cap-session", fmt.Sprintf("a session has used its %d tokens", session), "more", strconv.Itoa(2*session)))
		}
	}
	if len(list) == 0 {
		return []Finding{fine("none reached: %s a day, %s a session", capText(day), capText(session))}
	}
	return list
}

func capText(n int) string {
	if n == 0 {
		return "no cap"
	}
	return plural(n, "token")
}
