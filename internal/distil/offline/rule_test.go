package offline

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/memory"
)

func contents(rules []rule) []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.content)
	}
	return out
}

func TestRules(t *testing.T) {
	for _, test := range []struct {
		name, prompt string
		want         []string
	}{
		{"label inside a bug request", "The parser drops the last row. General rule for our importer: an empty cell is null and no empty string. Fix it please", []string{"An empty cell is null and no empty string"}},
		{"two in one prompt", "before you begin, for all our work here: never commit to develop, always open a merge request. and images are pinned by digest, not by tag",
			[]string{"Never commit to develop, always open a merge request", "Images are pinned by digest, not by tag"}},
		{"we always", "add a retry to the client. we always wrap errors with the operation's name", []string{"We always wrap errors with the operation's name"}},
		{"behind an order", "fix the race, and from now on never start a goroutine without a context", []string{"From now on never start a goroutine without a context"}},
		{"don't again", "please don't mock the database again", []string{"Don't mock the database again"}},
		{"stop doing", "stop adding docstrings to private helpers", []string{"Stop adding docstrings to private helpers"}},
		{"place", "in this repo we use pnpm, not npm", []string{"In this repo we use pnpm, not npm"}},
		{"all need", "Every new endpoint needs an integration test.", []string{"Every new endpoint needs an integration test"}},
		{"ban with a reason", "no that's fine. but don't call store.Flush() in the handler, it can block", []string{"Don't call store.Flush() in the handler, it can block"}},
		{"what has to stay", "see what we can save here, the wire format must not change", []string{"The wire format must not change"}},
		{"specification", "the spec: servers MUST answer within the negotiated version", []string{"The spec: servers MUST answer within the negotiated version"}},
		{"code in one line", "```make test``` fails. From now on never push to main", []string{"From now on never push to main"}},
		{"list", "Rules for this project:\n- tabs, no spaces\n- errors are wrapped with %w\n\nNow add a CLI flag for the port", []string{"Tabs, no spaces", "Errors are wrapped with %w"}},
		{"whenever", "whenever you touch the schema, bump the version in schema.sql", []string{"Whenever you touch the schema, bump the version in schema.sql"}},
		{"preference", "In general I prefer table tests over subtests", []string{"In general I prefer table tests over subtests"}},
		{"habit of a place", "In our codebase every public function has a docstring. add one to parse()", []string{"In our codebase every public function has a docstring"}},
		{"never in a place", "tests never touch the network in this project", []string{"Tests never touch the network in this project"}},
		{"policy", "Policy: dependencies need approval", []string{"Dependencies need approval"}},
		{"must not be", "generated files (*.pb.go) must not be edited by hand", []string{"Generated files (*.pb.go) must not be edited by hand"}},
		{"never ever", "never ever log request bodies, they hold personal data", []string{"Never ever log request bodies, they hold personal data"}},
		{"no more", "no more mocks for the database in tests please", []string{"No more mocks for the database in tests"}},
		{"not here", "we don't do queries in handlers here, move it to the service", []string{"We don't do queries in handlers here, move it to the service"}},
		{"German habit", "In diesem Projekt schreiben wir Kommentare auf Englisch. Bitte korrigieren.", []string{"In diesem Projekt schreiben wir Kommentare auf Englisch"}},
		{"Spanish without a verb", "Los mensajes de commit siempre en inglés", []string{"Los mensajes de commit siempre en inglés"}},
		{"German", "Der Export bricht ab. Bitte beheben. Ab jetzt bitte keine neuen Abhängigkeiten ohne Rückfrage!", []string{"Ab jetzt bitte keine neuen Abhängigkeiten ohne Rückfrage"}},
		{"German infinitive", "Migrationen immer von Hand schreiben, nie generieren lassen", []string{"Migrationen immer von Hand schreiben, nie generieren lassen"}},
		{"German we", "wir verwenden immer UTC in der Datenbank", []string{"Wir verwenden immer UTC in der Datenbank"}},
		{"Spanish", "arregla el test. En este proyecto nunca hagas push a main", []string{"En este proyecto nunca hagas push a main"}},
		{"Spanish we", "a partir de ahora usa siempre pnpm en vez de npm", []string{"A partir de ahora usa siempre pnpm en vez de npm"}},
		{"Japanese", "テストが失敗します。直してください。今後はmainに直接pushしないでください。", []string{"今後はmainに直接pushしないでください"}},
		{"drawn attention to", "one thing before we go on: please never rename a column in place", []string{"Never rename a column in place"}},
		{"French label", "L'export plante. Au fait, règle pour ce projet : jamais de requête dans une vue, toujours un service.", []string{"Jamais de requête dans une vue, toujours un service"}},
		{"French ban", "Corrige le filtre. Ne jamais committer directement sur develop.", []string{"Ne jamais committer directement sur develop"}},
		{"French from now on", "À partir de maintenant, utilise uv et pas pip.", []string{"À partir de maintenant, utilise uv et pas pip"}},
		{"French habit", "dans ce dépôt on écrit les messages d'erreur en anglais", []string{"Dans ce dépôt on écrit les messages d'erreur en anglais"}},
		{"French never again", "n'ajoute plus jamais de paquet sans me demander", []string{"N'ajoute plus jamais de paquet sans me demander"}},
		{"Portuguese label", "o build quebrou. Regra do projeto: toda tabela nova precisa de created_at", []string{"Toda tabela nova precisa de created_at"}},
		{"Portuguese place", "arruma o login. neste repositório nunca faça commit direto na main", []string{"Neste repositório nunca faça commit direto na main"}},
		{"Portuguese always", "sempre escreva os testes em inglês", []string{"Sempre escreva os testes em inglês"}},
		{"Italian from now on", "correggi il filtro. D'ora in poi usa sempre poetry", []string{"D'ora in poi usa sempre poetry"}},
		{"Italian ban", "non usare mai print nel codice di produzione", []string{"Non usare mai print nel codice di produzione"}},
		{"Spanish order with an adverb", "usa siempre la zona horaria de la cuenta", nil},
		{"Spanish order without an article", "usa siempre transacciones para escribir", []string{"Usa siempre transacciones para escribir"}},
		{"Chinese ban", "构建报错了，看一下。注意：永远不要直接推送到 main 分支。", []string{"永远不要直接推送到 main 分支"}},
		{"Chinese place", "在这个项目里不要使用默认导出", []string{"在这个项目里不要使用默认导出"}},
		{"Chinese every time", "每次修改表结构之后必须更新 schema.sql", []string{"每次修改表结构之后必须更新 schema.sql"}},
		{"always in", "Los mensajes de error siempre en inglés, y los comentarios también", []string{"Los mensajes de error siempre en inglés, y los comentarios también"}},
		{"all get it from now on", "the importer drops the last line of a file. can you fix that? From now on each migration has a comment with its reason.", []string{"From now on each migration has a comment with its reason"}},
		{"going forward", "Going forward all new endpoints come with an OpenAPI entry", []string{"Going forward all new endpoints come with an OpenAPI entry"}},
		{"German onward", "Der Import verliert die letzte Zeile. Ab jetzt bekommt jede Migration einen Kommentar mit ihrem Grund.", []string{"Ab jetzt bekommt jede Migration einen Kommentar mit ihrem Grund"}},
		{"Spanish onward", "De ahora en adelante cada módulo tiene un README propio", []string{"De ahora en adelante cada módulo tiene un README propio"}},
		{"Spanish consent", "Falla el filtro de fechas, míralo. De ahora en adelante no borres nada de `legacy/` sin preguntarme.", []string{"De ahora en adelante no borres nada de `legacy/` sin preguntarme"}},
		{"Portuguese consent", "a partir de agora não apague nada do banco sem minha aprovação", []string{"A partir de agora não apague nada do banco sem minha aprovação"}},
		{"French onward", "Désormais chaque composant a un fichier de test", []string{"Désormais chaque composant a un fichier de test"}},
		{"Italian onward", "D'ora in poi ogni tabella ha una colonna created_at", []string{"D'ora in poi ogni tabella ha una colonna created_at"}},
		{"courtesy behind", "never log the session token please", []string{"Never log the session token"}},
		{"courtesy in front", "Por favor, nunca subas archivos de datos", []string{"Nunca subas archivos de datos"}},
		{"but never", "restart the workers, but never on Fridays", []string{"Restart the workers, but never on Fridays"}},
		{"but never a thing", "we log ids but never email addresses", []string{"We log ids but never email addresses"}},
		{"but never in German", "Wir loggen IDs, aber nie Adressen", []string{"Wir loggen IDs, aber nie Adressen"}},
		{"but never behind an errand", "add a retry, but never start a goroutine without a context", []string{"Never start a goroutine without a context"}},
		{"only here", "pnpm only in this repo, npm breaks the lockfile, please don't", []string{"Pnpm only in this repo, npm breaks the lockfile, please don't"}},
		{"kept out", "keep CVE numbers out of commit messages", []string{"Keep CVE numbers out of commit messages"}},
		{"hands off", "HANDS OFF the retry count, three is what ops agreed", []string{"HANDS OFF the retry count, three is what ops agreed"}},
		{"not done here", "snapshot tests aren't done here", []string{"Snapshot tests aren't done here"}},
		{"carry none here", "migrations carry no data here", []string{"Migrations carry no data here"}},
		{"no mocks", "pls no mocks in tests", []string{"No mocks in tests"}},
		{"no touching", "DON'T touch the retry count, three is what ops agreed", []string{"DON'T touch the retry count, three is what ops agreed"}},
		{"not done here in German", "Snapshot-Tests machen wir hier nicht", []string{"Snapshot-Tests machen wir hier nicht"}},
		{"hands off in German", "Finger weg von der Retry-Zahl, die ist mit Ops abgestimmt", []string{"Finger weg von der Retry-Zahl, die ist mit Ops abgestimmt"}},
		{"not used here in Spanish", "aquí no se usan mocks", []string{"Aquí no se usan mocks"}},
		{"not done here in French", "ici on ne met pas de logique dans une vue", []string{"Ici on ne met pas de logique dans une vue"}},
		{"reach", "The pager skips a row. No globals btw, that goes for anything you touch.", []string{"No globals btw, that goes for anything you touch"}},
		{"reach in the next sentence", "Every id is a ULID. Same goes for new tables.", []string{"Every id is a ULID. Same goes for new tables"}},
		{"generic subject", "whatever lands in exports/ needs a checksum next to it", []string{"Whatever lands in exports/ needs a checksum next to it"}},
		{"generic occasion", "each time you write a migration: it gets a down script", []string{"Each time you write a migration: it gets a down script"}},
		{"German reach", "Mach den Export schneller. Kein Reflection, das gilt für alles unter core/.", []string{"Kein Reflection, das gilt für alles unter core/"}},
		{"Portuguese reach", "textos em minúsculas, isso vale para tudo que o usuário vê", []string{"Textos em minúsculas, isso vale para tudo que o usuário vê"}},
		{"Chinese reach", "文案放在 zh.yml，这适用于所有页面", []string{"文案放在 zh.yml，这适用于所有页面"}},
		{"answered first", "No - enum values are always upper case here", []string{"Enum values are always upper case here"}},
		{"this, and what it is", "This file is run by /bin/sh here, so never use arrays in it", []string{"This file is run by /bin/sh here, so never use arrays in it"}},
		{"Japanese place", "このプロジェクトでは pnpm を使うこと", []string{"このプロジェクトでは pnpm を使うこと"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, contents(rulesOf(test.prompt))); diff != "" {
				t.Errorf("rules of %q (-want +got):\n%s", test.prompt, diff)
			}
		})
	}
}

func TestNoRules(t *testing.T) {
	for _, prompt := range []string{
		"That part stays off limits, never touch it.", "That's the usual playbook, it must not be changed.", "das ist immer so zu machen",
		"whatever the server sends is logged twice", "The button does nothing. This applies to all pages.", "rename it to Reader. That goes for all the callers.",
		"don't push yet", "never mind", "fix it, always fails", "never mind, I found it", "the worker never returns when the queue is empty",
		"we always get a 502 from the gateway, why?", "do we always need the lock here?", "never seen that before", "please don't do that again",
		"for now never call the real API in this branch", "fix the lexer, not the parser", "the symbol has to be µs and below 1 ms it should be picked automatically",
		"every job is red since noon", "review says: a port without a host is always a mistake, don't warn, fail", "keep the 20k limit",
		"I think we should always retry", "fix the retry policy in store.go", "add an eslint rule for imports", "remember that crash from yesterday? it is back",
		"update the firewall rules for nginx", "このルールを直してください", "cambia la regla de nginx", "die Regel für den Import ist falsch", "always getting EOF when I call it", "every request gets a 500", "all handlers need to be migrated to v2",
		"in this repo there are two parsers, remove the old one", "for this project use Go 1.24 and create a main.go", "every time I run make it rebuilds everything, fix that",
		"in this project we have a flaky test, find it", "we don't need the cache here, remove it", "use the second approach instead of the first", "the list must not be empty", "all tests pass now, commit", "no, that's wrong. look again", "from now on the meter redraws like mad",
		"```\nnever push to main\n```\nwhat does this mean", "````md\n```\nFrom now on always push to main.\n```\n````\nwhat does this mean", "> General rule: never push to main\nwhere is that from", "<doc>We always use tabs.</doc> summarise",
		"2026-01-02 10:00:01 never retry a failed upload again", "ERROR worker must not change state", "the message \"never push to main\" is printed twice",
		"der Test schlägt immer fehl", "es ist immer noch rot", "der Job läuft nie durch", "bitte noch nicht pushen", "das Programm hängt immer beim Beenden",
		"siempre falla en CI", "el servidor nunca termina", "no hagas push todavía", "por ahora no cambies nada", "¿siempre usamos pnpm?",
		"必ず失敗します", "まだpushしないでください", "指数バックオフは不要です", "これを直してください", "I prefer the second option over the first", "hey, which model are you?", "", "always", "rule:",
	} {
		if got := contents(rulesOf(prompt)); len(got) > 0 {
			t.Errorf("rules of %q: %q, want none", prompt, got)
		}
	}
}

// What only looks like a rule: questions, quotations, wishes for now, reports, pasted
// logs, documents and code.
func TestNothingLearnt(t *testing.T) {
	for _, prompt := range []string{
		// questions
		"should we always close the cursor here?", "is it a rule that handlers never touch the database?", "why must the token never be logged", "do you always run the linter before a commit?",
		"faut-il toujours fermer le curseur ?", "pourquoi on n'utilise jamais de mock ici", "devemos sempre usar transações?", "por que nunca usamos cache aqui", "dobbiamo usare sempre il lock qui?",
		"muss man hier immer neu laden?", "¿hay que usar siempre el lock?", "我们每次都必须重启吗？", "为什么永远不能用 any", "常に再起動が必要ですか？",
		// for now
		"don't touch the tests for now", "never mind the linter in this PR", "use sqlite for this one, not postgres", "always show the raw output while we debug this, just for today",
		"pour l'instant n'utilise jamais le cache", "ne pousse pas encore, je relis d'abord", "por enquanto não use o cache", "per ora non usare mai il proxy", "heute bitte nichts mehr committen", "de momento no uses la caché", "这次不要运行迁移", "先别提交", "今回はテストを書かないでください",
		// reports
		"it never worked on windows", "the spinner always stays after a timeout", "we never get the second event", "every request must wait 3 s, that's the bug", "always the same stack trace since tuesday",
		"ça plante toujours au démarrage", "le job ne finit jamais", "toujours en échec sur la branche", "on reçoit toujours deux mails", "o job nunca termina", "sempre em loop depois do login", "nunca vi esse erro antes",
		"il server non risponde mai in tempo", "sempre lo stesso errore", "siempre en rojo desde ayer", "nunca llega el segundo correo", "er startet nie richtig", "每次登录都显示空白页", "页面总是卡住", "いつもタイムアウトになります",
		// quoted and pasted
		"the docs say \"never call close twice\", where do we do that?", "le readme dit : « ne jamais modifier ce fichier », est-ce vrai", "the comment `// never remove this` is wrong, delete it", "文档说永远不要调用 close 两次，对吗",
		"> From now on use tabs.\nthat was a mail from Jo, what do you think", "```yaml\n# always pin by digest\nimage: x\n```\nwhat does the comment mean", "[12:03:11] WARN retries must never exceed 5\nwhat is that",
		"    // we always lock before reading\nremove that comment", "<style-guide>\nAlways use spaces. Never use tabs.\n</style-guide>\nconvert it to html",
		// from now on, but no wish
		"from now on every request gets a 500", "since the upgrade, from now on each test gets a timeout", "from now on all users have a blank page", "does every service get a README from now on?", "from now on the cache has a hole somewhere",
		"going forward every job gets an error from the queue", "ab jetzt bekommt jede Abfrage einen Fehler", "ab jetzt hat der Server ein Problem", "desde ahora cada consulta recibe un error", "désormais chaque requête reçoit une erreur",
		"no toques nada, solo mira el log", "não mude nada, só leia", "por ahora no subas nada sin avisar", "a partir de ahora falla cada prueba", "hoje não apague nada do banco", "d'ora in poi ogni test ha un errore",
		"the changelog reads \"from now on every function gets a comment\", who wrote that", "> From now on each module has a README.\nis that still done?", "maybe from now on every function gets a comment", "from now on every button gets a border",
		// what only resembles a ban
		"the button isn't shown here", "tests are not run here, why?", "the retry is never used here and that is the bug", "keep an eye on the log", "migrations have no lock and that breaks it", "there are no mocks in tests?",
		"it logs ids but never the name, fix that", "don't touch the tests", "hay pruebas que no se ejecutan aquí, míralo",
		// once
		"before anything else: please look at the log", "please run the linter again", "please have a look at the migration first", "before we start: what does Open return?", "bitte schau dir zuerst den Test an", "por favor mira la rama release",
		// the program's rules, and work to do
		"add a lint rule that forbids console.log", "write a validation: the name must never be empty", "the retry policy should be exponential, change it", "rename the rule always-green to stable", "corrige la règle du pare-feu", "a regra do nginx está errada", "la regola CSS non si applica", "修改一下防火墙规则",
	} {
		if got := contents(rulesOf(prompt)); len(got) > 0 {
			t.Errorf("rules of %q: %q, want none", prompt, got)
		}
	}
}

// What a user states is learnt also of a turn without tools, and once: at its end.
func TestRulesBecomeLearnings(t *testing.T) {
	session := memory.Session{ID: 1, ProjectPath: "/p", PromptCount: 1}
	prompts := []memory.Prompt{{Session: 1, Number: 1, Text: "before we start: never push to main"}}
	stop := memory.PendingEvent{PromptNumber: 1, Event: memory.Event{Kind: memory.KindStop, LastAssistantMessage: "Understood.", OccurredAt: 7}}
	out, err := New().Distil(context.Background(), memory.Batch{Session: session, Prompts: prompts, Events: []memory.PendingEvent{stop}})
	if err != nil {
		t.Fatal(err)
	}
	want := []memory.Learning{{ProjectPath: "/p", Category: "workflow", Content: "Never push to main", Confidence: ruleConfidence, Provenance: memory.FromUser, CreatedAt: 7}}
	if diff := cmp.Diff(want, out.Learnings); diff != "" {
		t.Errorf("learnings (-want +got):\n%s", diff)
	}
	running := memory.PendingEvent{PromptNumber: 1, Event: memory.Event{Kind: memory.KindTool, ToolName: "Bash", OccurredAt: 6}}
	for _, test := range []struct {
		name    string
		session memory.Session
		want    int
	}{
		{"the turn goes on", session, 0},
		{"the next turn has begun", memory.Session{ID: 1, PromptCount: 2}, 1},
		{"the session is over", memory.Session{ID: 1, PromptCount: 1, CompletedAt: 9}, 1},
	} {
		out, err := New().Distil(context.Background(), memory.Batch{Session: test.session, Prompts: prompts, Events: []memory.PendingEvent{running}})
		if err != nil || len(out.Learnings) != test.want {
			t.Errorf("%s: %d learnings, want %d (%v)", test.name, len(out.Learnings), test.want, err)
		}
	}
}

func TestRuleIsBounded(t *testing.T) {
	long := "never " + strings.Repeat("call the service from the handler ", 30)
	many := "Rules for this project:\n" + strings.Repeat("- never do this thing\n- always check one more thing\n", 100)
	for _, prompt := range []string{long, many, strings.Repeat("<a>", 10000), "never \x00 push \xff to\u202e main"} {
		rules := rulesOf(prompt)
		if len(rules) > maxRules {
			t.Errorf("%d rules", len(rules))
		}
		for _, r := range rules {
			if n := len([]rune(r.content)); n > maxRule || strings.ContainsAny(r.content, "\x00\u202e") {
				t.Errorf("content of %d characters: %q", n, r.content)
			}
		}
	}
}
