//go:build unix

package code

import (
	"testing"
	"time"
)

const queueKotlin = `package shop.mail

class Outbox(private val limit: Int) {
    private val waiting = ArrayDeque<Mail>()

    fun offer(mail: Mail): Boolean {
        if (waiting.size > limit) return false
        waiting.addLast(mail)
        return true
    }

    fun drain(send: (Mail) -> Unit) {
        while (waiting.isNotEmpty()) send(waiting.removeFirst())
    }
}
`

// TestMistakeRule: a standing rule of the user is learnt, wherever it stands.
func TestMistakeRule(t *testing.T) {
	talk := func(prompt, answer string) func(s *script) {
		return func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask(prompt)
			s.say(answer)
		}
	}
	bug := func(prompt, answer string) func(s *script) {
		return func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask(prompt)
			s.edit("Outbox.kt", "waiting.size > limit", "waiting.size >= limit")
			s.run("./gradlew test", "BUILD SUCCESSFUL in 4s")
			s.say(answer)
		}
	}
	playAll(t, []play{
		{name: "a turn without tools", act: talk("One thing for all future work here: database migrations are written by hand, never generated.", "Noted."),
			stored: []string{`learning: .*migrations.*(by hand|never generated)`}, shown: []string{`migrations`}},
		{name: "inside a bug request", act: bug("The outbox takes one mail more than its limit. And in this repository we never log mail addresses, not even at debug level. Please fix it.", "`offer` compared with `>` and let one more in."),
			stored: []string{`learning: .*never log mail addresses`}, refused: []string{`learning: .*(one mail more|please fix)`}},
		{name: "behind the request", act: bug("offer() is off by one, can you look? From now on every public function gets a KDoc comment.", "`offer` compared with `>`."),
			stored: []string{`learning: .*public function.*KDoc`}},
		{name: "in German", act: bug("Der Postausgang nimmt eine Mail zu viel an. Übrigens: Commit-Nachrichten schreiben wir in diesem Projekt immer auf Englisch.", "`offer` verglich mit `>`."),
			stored: []string{`learning: .*commit-nachrichten.*englisch`}},
		{name: "in Spanish", act: talk("A partir de ahora no subas nada a la rama `release` sin que yo lo apruebe.", "De acuerdo."),
			stored: []string{`learning: .*no subas nada a la rama .?release`}},
		{name: "in Japanese", act: talk("今後、テストでは実際のメールサーバーに接続しないでください。", "承知しました。"),
			stored: []string{`learning: .*メールサーバーに接続しない`}},
		{name: "what holds only now is none", act: talk("Don't push yet, I want to look at it first. We always had trouble with that remote.", "I will wait."),
			refused: []string{`learning: .`}},
	})
}

// TestMistakeTitle: the title says what the turn was about, and the subtitle why; it is not
// whichever sentence has the name of a function.
func TestMistakeTitle(t *testing.T) {
	playAll(t, []play{
		{name: "the cause stands behind sentences with names", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("customers get their receipts twice since the last release")
			s.view("Outbox.kt", 0, 0)
			s.edit("Outbox.kt", "        while (waiting.isNotEmpty()) send(waiting.removeFirst())", "        while (true) {\n            val mail = synchronized(waiting) { waiting.removeFirstOrNull() } ?: return\n            send(mail)\n        }")
			s.run("./gradlew test", "BUILD SUCCESSFUL in 4s")
			s.say("I looked at `Outbox.offer`, `Outbox.drain` and the callers in `Checkout`. `offer` is fine.\n\nReceipts went out twice because two workers drained the same queue without a lock: both read the first mail before either removed it. `drain` takes each mail under a lock now.\n\n`./gradlew test` is green.")
		}, stored: []string{`^\w+: .*(receipts|twice).*`, `^\w+: .*two workers.*lock`}, refused: []string{`^\w+: (I looked at|.?offer.? is fine)`}},
		{name: "a decision, with chatter around it", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("should the outbox live in Redis or in Postgres?")
			s.view("Outbox.kt", 0, 0)
			s.say("Good question! `Outbox` has 14 lines and no persistence today.\n\nI would keep it in Postgres: a mail is then written in the same transaction as the order, so that none is lost when the process dies. Redis would be faster, but it needs a second commit.")
		}, stored: []string{`^\w+: .*postgres.*`, `same transaction as the order`}, refused: []string{`^\w+: (good question|.?outbox.? has 14)`}},
		{name: "no commit echo", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("the outbox takes one mail too many, fix and commit")
			s.edit("Outbox.kt", "waiting.size > limit", "waiting.size >= limit")
			s.run("./gradlew test", "BUILD SUCCESSFUL in 4s")
			s.runGit("commit -qam 'Outbox: hold at most limit mails'")
			s.say("Done. `offer` compared the size before adding with `>`, so that limit + 1 mails fit. Committed.")
		}, stored: []string{`^bugfix: .*(one mail too many|outbox|limit)`}, refused: []string{`^\w+: (done|commit)`}},
	})
}

// TestMistakeSpanish: messages in other languages are read for what they say.
func TestMistakeSpanish(t *testing.T) {
	fix := func(prompt, message string) func(s *script) {
		return func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask(prompt)
			s.view("Outbox.kt", 0, 0)
			s.edit("Outbox.kt", "waiting.size > limit", "waiting.size >= limit")
			s.run("./gradlew test", "BUILD SUCCESSFUL in 4s")
			s.say(message)
		}
	}
	const symbolsOnly = `^\w+: (Change |Fix |Edit )?(shop\.mail\.)?Outbox(\.offer)?( in Outbox\.kt|\s*\(Outbox\.kt\))?: `
	playAll(t, []play{
		{name: "Spanish", act: fix("la bandeja de salida acepta un correo de más, corrígelo", "`offer` comparaba con `>` antes de añadir, por eso cabían `limit + 1` correos. Ahora compara con `>=`."),
			stored: []string{`^bugfix: .*(correo de más|comparaba|cabían)`, `por eso cabían`}, refused: []string{symbolsOnly}},
		{name: "German", act: fix("Der Postausgang nimmt eine Mail zu viel an, bitte beheben", "`offer` verglich mit `>`, bevor die Mail angehängt war, deshalb passten `limit + 1` hinein."),
			stored: []string{`^bugfix: .*(mail zu viel|verglich|passten)`, `deshalb passten`}, refused: []string{symbolsOnly}},
		{name: "Japanese", act: fix("送信箱が上限より1通多く受け付けるので直して", "`offer` は追加前の件数を `>` で比べていたため、`limit + 1` 通入っていました。`>=` に直しました。"),
			stored: []string{`^bugfix: .*(上限より|比べていた)`, `比べていたため`}, refused: []string{symbolsOnly}},
		{name: "French", act: fix("la boîte d'envoi accepte un message de trop, corrige", "`offer` comparait avec `>` avant l'ajout, donc `limit + 1` messages passaient."),
			stored: []string{`comparait avec`}, refused: []string{symbolsOnly}},
	})
}

// TestMistakeTable: what the closing message says in a table, in a list or behind a colon is
// kept with what it belongs to.
func TestMistakeTable(t *testing.T) {
	playAll(t, []play{
		{name: "a table of measurements", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("how does the outbox behave with different batch sizes?")
			s.run("./gradlew jmh", "BUILD SUCCESSFUL in 94s")
			s.say("I measured three sizes:\n\n| batch | mails/s | p99 |\n|---|---|---|\n| 1 | 410 | 12 ms |\n| 50 | 8,900 | 31 ms |\n| 500 | 9,200 | 290 ms |\n\nFifty is the best trade.")
		}, stored: []string{`50.{0,40}8,900|8,900.{0,60}31 ms`, `Fifty is the best trade`}},
		{name: "before and after", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("the nightly export is too slow")
			s.edit("Outbox.kt", "ArrayDeque<Mail>()", "ArrayDeque<Mail>(limit)")
			s.run("./gradlew test", "BUILD SUCCESSFUL in 4s")
			s.say("The deque was grown again and again, so the export copied most of its memory.\n\nBefore: 184 s, 2.1 GB\nAfter: 61 s, 640 MB")
		}, stored: []string{`184 s`, `61 s`, `grown again and again`}},
		{name: "ports in a table", act: func(s *script) {
			s.have(map[string]string{"compose.yaml": "services: {}\n"})
			s.ask("which ports do the services of the compose file get?")
			s.view("compose.yaml", 0, 0)
			s.say("These:\n\n| service | port |\n|---|---|\n| gateway | 8443 |\n| outbox | 9107 |\n")
		}, stored: []string{`outbox.{0,10}9107`, `gateway.{0,10}8443`}},
		{name: "a sentence that ends in a colon", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("how do I start the mail worker against the staging database?")
			s.view("Outbox.kt", 0, 0)
			s.say("The worker reads its database from the profile, so you start it like this:\n\n```sh\nOUTBOX_PROFILE=staging ./gradlew :mail:run\n```\n")
		}, stored: []string{`OUTBOX_PROFILE=staging`}},
		{name: "a list behind a colon, in German", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("Warum gehen im Test Mails verloren?")
			s.view("Outbox.kt", 0, 0)
			s.say("Es gibt zwei Ursachen:\n\n- `offer` verwirft Mails still, wenn die Schlange voll ist\n- der Test wartet nicht auf `drain`\n")
		}, stored: []string{`verwirft Mails still`, `wartet nicht auf .?drain`}},
	})
}

// TestMistakeSubagent: the finding of a subagent is kept, though the closing message does
// not repeat it.
func TestMistakeSubagent(t *testing.T) {
	playAll(t, []play{
		{name: "the message only points at it", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("find out where duplicate receipts could come from, use an agent")
			s.delegate("Explore", "Find duplicate receipts", "Receipts are enqueued in two places: Checkout.kt:88 after payment, and WebhookController.kt:41 when the payment provider repeats its webhook. Neither checks the order's `receiptSentAt`.")
			s.say("The agent found the two places, see above.")
		}, stored: []string{`WebhookController\.kt`, `receiptSentAt`}},
		{name: "in a turn that edits", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("let an agent look why drain is slow, then fix it")
			s.delegate("general-purpose", "Profile drain", "`drain` spends 96 % of its time in DNS: `MailClient.connect` resolves mx.example.com for every mail because the JVM's cache is turned off by networkaddress.cache.ttl=0.")
			s.edit("Outbox.kt", "while (waiting.isNotEmpty()) send(waiting.removeFirst())", "val batch = waiting.toList(); waiting.clear(); batch.forEach(send)")
			s.run("./gradlew test", "BUILD SUCCESSFUL in 4s")
			s.say("`drain` hands over a whole batch now.")
		}, stored: []string{`networkaddress\.cache\.ttl=0|96 % of its time in DNS`}},
	})
}

// TestMistakeDisproved: a guess that the session disproves is not stored as true, and a
// decision that a later one reverses is not told as the one that holds.
func TestMistakeDisproved(t *testing.T) {
	// The guess is distilled together with its correction, or was stored before it.
	corrects := func(between func(s *script)) func(s *script) {
		return func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("why do mails get lost at midnight?")
			s.view("Outbox.kt", 0, 0)
			s.say("Mails get lost because the outbox overflows: `offer` returns false when 1,000 are waiting.")
			between(s)
			s.ask("no, it never has more than 20 at that time. Look at the cron job.")
			s.run("crontab -l", "0 0 * * * systemctl restart mail-worker")
			s.say("You are right, it is not the limit. Cron restarts the worker at midnight, and what is in memory then is gone, because nothing is persisted.")
		}
	}
	playAll(t, []play{
		{name: "the user corrects a guess", act: corrects(func(*script) {}),
			stored: []string{`cron restarts the worker at midnight`}, shown: []string{`cron restarts`}, outdated: []string{`outbox overflows`}},
		{name: "the user corrects a guess that is stored", act: corrects(func(s *script) { s.Settle(time.Minute) }),
			stored: []string{`because the outbox overflows`, `cron restarts the worker at midnight`}, shown: []string{`cron restarts`}, outdated: []string{`outbox overflows`}},
		{name: "the agent corrects itself in its message", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("the mail tests are flaky, why?")
			s.view("Outbox.kt", 0, 0)
			s.run("./gradlew test --rerun-tasks", "BUILD SUCCESSFUL in 4s")
			s.say("At first I suspected the clock, but the tests fail with a fixed clock too. The actual cause is the shared port: two test classes start a fake SMTP server on 2525 and Gradle runs them in parallel.")
		}, stored: []string{`SMTP server on 2525`}, refused: []string{`(cause|because)[^.]{0,20} the clock`}},
		{name: "a decision that is reversed in the next session", act: func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask("let's store the outbox in Redis instead of Postgres")
			s.edit("Outbox.kt", "private val waiting = ArrayDeque<Mail>()", "private val waiting = RedisQueue<Mail>(\"outbox\")")
			s.run("./gradlew test", "BUILD SUCCESSFUL in 4s")
			s.say("The outbox is kept in Redis now, because it survives a restart and needs no schema.")
			s.nextSession()
			s.ask("we decided otherwise: store the outbox in Postgres instead of Redis, operations does not want to run another server")
			s.edit("Outbox.kt", "RedisQueue<Mail>(\"outbox\")", "TableQueue<Mail>(\"outbox\")")
			s.run("./gradlew test", "BUILD SUCCESSFUL in 4s")
			s.say("The outbox is a table in Postgres now, Redis is gone again: operations does not want to run another server.")
		}, stored: []string{`postgres`, `operations does not want`}, shown: []string{`postgres`}, outdated: []string{`outbox is kept in Redis now`}},
	})
}

// TestMistakeType: the mending of a fault is a bugfix, in whatever words and tools.
func TestMistakeType(t *testing.T) {
	fix := func(prompt, message string) func(s *script) {
		return func(s *script) {
			s.have(map[string]string{"Outbox.kt": queueKotlin})
			s.ask(prompt)
			s.view("Outbox.kt", 0, 0)
			s.edit("Outbox.kt", "waiting.size > limit", "waiting.size >= limit")
			s.run("./gradlew test", "BUILD SUCCESSFUL in 4s")
			s.say(message)
		}
	}
	bugfix := []string{`^bugfix: `}
	playAll(t, []play{
		{name: "a symptom without the word", act: fix("the outbox holds 101 mails although its limit is 100", "The size was compared before the mail was added, so one more fitted in. It holds at most `limit` now."), stored: bugfix},
		{name: "doesn't work", act: fix("the limit doesn't work", "`offer` compared with `>`; with `>=` the limit holds."), stored: bugfix},
		{name: "a crash", act: fix("NullPointerException in Outbox.offer when the mail has no recipient", "`offer` did not check the limit first and ran into a null recipient. It returns false now."), stored: bugfix},
		{name: "in German", act: fix("Der Postausgang nimmt 101 Mails an, obwohl nur 100 erlaubt sind", "Der Vergleich war um eins daneben."), stored: bugfix},
		{name: "in Spanish", act: fix("la bandeja admite 101 correos aunque el límite es 100", "La comparación se quedaba corta por uno."), stored: bugfix},
		{name: "in Japanese", act: fix("上限が100なのに101通入ってしまう", "比較が1つずれていました。"), stored: bugfix},
		{name: "a wish is no fault", act: fix("add a strict mode to the outbox, which holds at most limit mails", "The outbox is strict now."), stored: []string{`^(feature|change): `}, refused: bugfix},
	})
}
