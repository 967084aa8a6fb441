package offline

import (
	"context"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// told distils the turns of a story one by one, as a worker does, and returns all observations; each
// has its ID. SupersededBy is set of those that a later one supersedes.
func (s *story) told(t *testing.T) []memory.Observation {
	t.Helper()
	var stored []memory.Observation
	var lines []memory.TurnLines
	for n := 1; n <= s.number; n++ {
		b := memory.Batch{Session: s.batch.Session, Lines: lines}
		for _, p := range s.batch.Prompts {
			if p.Number == n {
				b.Prompts = append(b.Prompts, p)
			}
		}
		for _, e := range s.batch.Events {
			if e.PromptNumber == n {
				b.Events = append(b.Events, e)
			}
		}
		for _, o := range slices.Backward(stored) {
			if o.SupersededBy == 0 {
				b.Nearby = append(b.Nearby, o)
			}
		}
		out, err := New().Distil(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, out.Lines...)
		for _, o := range out.Observations {
			o.ID = memory.ObservationID(len(stored) + 1)
			for _, id := range o.Supersedes {
				stored[id-1].SupersededBy = o.ID
			}
			stored = append(stored, o)
		}
	}
	return stored
}

// supersededTurns returns the numbers of the turns of which an observation is superseded.
func supersededTurns(stored []memory.Observation) []int {
	numbers := []int{}
	for _, o := range stored {
		if o.SupersededBy != 0 && !slices.Contains(numbers, o.PromptNumber) {
			numbers = append(numbers, o.PromptNumber)
		}
	}
	return numbers
}

// cached is a story of a turn that adds a cache.
func cached() *story {
	return tell().ask("cache the exchange rates").
		edit("rates.py", 3, " import requests", "+CACHE_SECONDS = 300", "+", "+def cached_rates(currency):", "+    hit = STORE.get(currency)", "+    if hit is None:", "+        hit = axios_fetch(currency)", "+        STORE[currency] = hit", "+    return hit").
		stop("`cached_rates` keeps each rate for `CACHE_SECONDS`, so that the provider is asked once in five minutes.")
}

// recut edits a line of what cached added.
func (s *story) recut() *story {
	return s.edit("rates.py", 4, "-CACHE_SECONDS = 300", "+CACHE_SECONDS = 60").
		edit("rates.py", 9, "-        hit = axios_fetch(currency)", "+        hit = http_get(currency)").
		stop("`CACHE_SECONDS` is 60 now, and the rates come by `http_get`.")
}

// corrections are prompts that say no to what was just done.
var corrections = strings.Split(strings.TrimSpace(`
no, 60 seconds, rates move
No. One minute at most.
nope, that's far too long, a minute
no - one minute
no that's not what I meant, a minute is the limit
No!! I asked for one minute
nah, make it a minute
no I want it to expire after a minute
no don't keep them that long
hmm, no. rates have to be fresh, 60s
sorry, no, that has to be 60
wait, no, legal says one minute
ok no, I changed my mind, 60
that's wrong, rates may be a minute old at most
This is wrong: 60 seconds.
that's not what I asked for, use http_get
That is not right. One minute.
not what I meant, the limit is a minute
not like that, use http_get from utils
wrong, it's 60
Wrong value, 60 please
I don't want axios in here
I didn't ask for five minutes
i said a minute
I meant 60 seconds
I'd rather have 60 seconds
I would prefer a minute
actually no, a minute
revert that, and use a minute
Revert the last change and do it with http_get
undo that please, a minute is enough
roll that back, 60 seconds it is
please undo this, I need it at 60
take that back, use http_get
change it back to http_get and a minute
go back to the old fetch, and a minute only
bring back http_get
put that back the way it was, and only a minute
scratch that, one minute
on second thought, a minute
never mind, a minute is enough
use http_get instead
Use http_get instead, and a minute.
make it a minute instead, rates move
instead, use http_get
use http_get instead of axios_fetch
http_get, not axios_fetch
please take http_get rather than axios_fetch
don't use axios_fetch, we have http_get
don't do it like that, a minute is the limit - don't use that
why did you take five minutes? one
you misunderstood me, one minute
let's not do that, a minute
Nein, 60 Sekunden, die Kurse ändern sich
nee, eine Minute
Nein! Höchstens eine Minute.
nein das ist zu lang, eine Minute
nein, so nicht – nimm http_get
Das ist falsch, es sind 60 Sekunden
das stimmt so nicht, eine Minute
Das wollte ich nicht, eine Minute reicht
so war das nicht gemeint, eine Minute
ich meinte eine Minute
Ich habe doch gesagt eine Minute
falsch, 60
mach das rückgängig und nimm eine Minute
Mach das bitte wieder raus und nimm http_get
nimm das zurück, eine Minute
stell das alte wieder her, nur mit einer Minute
nimm stattdessen http_get
http_get statt axios_fetch
lieber eine Minute
doch lieber http_get
warte, nein, eine Minute
bitte rückgängig machen, eine Minute
No, 60 segundos
no, así no, usa http_get
No, eso no es lo que pedí
eso está mal, un minuto
no quiero cinco minutos
no, mejor un minuto
deshaz eso, un minuto
revierte el último cambio y usa http_get
vuelve a como estaba, con un minuto
usa http_get en su lugar
usa http_get en vez de axios_fetch
prefiero un minuto
perdona, no, un minuto
te equivocaste, son 60 segundos
quería un minuto
Non, 60 secondes
non, pas comme ça, une minute
Non ! Une minute.
ce n'est pas ça, une minute
c'est faux, une minute
je voulais une minute
j'avais dit une minute
annule ça, une minute suffit
reviens à l'ancien, avec une minute
utilise plutôt http_get
utilise http_get à la place
http_get au lieu de axios_fetch
pas comme ça, une minute
je préfère une minute
Não, 60 segundos
não, assim não, usa http_get
isso está errado, um minuto
não era isso, um minuto
eu pedi um minuto
desfaz isso, um minuto
reverte a última mudança e usa http_get
volta como estava, com um minuto
usa http_get em vez disso
usa http_get em vez de axios_fetch
prefiro um minuto só
いや、60秒にして
いいえ、1分です
違います、1分にしてください
違う、http_getを使って
そうじゃなくて、1分
元に戻して、1分にして
取り消して、http_getにして
やっぱり1分にして
axios_fetchではなくhttp_getを使って
代わりにhttp_getを使って
1分と言ったはずです
それは違います。60秒です
不对，60秒
不是，我要的是一分钟
不，一分钟
错了，应该是60秒
不要这样，用http_get
不要用axios_fetch，用http_get
我说的是一分钟
撤销，改成一分钟
撤回刚才的修改，用http_get
改回http_get，一分钟
还是用http_get吧
用http_get而不是axios_fetch
恢复成原来的，只要一分钟
算了，一分钟就够
`), "\n")

// iterations go on with the work of the turn before, of which lines go too.
var iterations = strings.Split(strings.TrimSpace(`
no tests yet, add some
no problem, now also make it a minute
No worries. Now the timeout, please
no need to wait, go on with http_get
no, that's fine. now use http_get
No, that's all for the cache. Next: http_get
nope, all good, go on
no thanks, go on with the next step
no, not yet. first switch to http_get
no, go ahead with http_get
No rush, but make it a minute some day
no idea why, but the test wants http_get
no docs yet, write them
no more than a minute for the rates in the sandbox
not bad, now a minute
nice, now make it a minute
make it 60 seconds
make it a minute
instead of stopping here go on with http_get
instead of waiting for me, switch to http_get
rather than asking, do the next step
good. now refactor it to use http_get
refactor cached_rates, the client is http_get now
the test fails now: NameError axios_fetch. fix it
it doesn't compile, axios_fetch is not defined
the lookup still fails, fix it
now do the same with http_get
can you also use http_get?
also lower the limit to a minute
and use http_get
great, next use http_get
next: http_get
wait for the response before you store it, and a minute
stop the worker on SIGTERM, too
undo support should be added to the cache editor
revert button: add a tooltip, and use http_get
rollback migrations in the tests, too
restore the window position at the start, a minute
back to the parser now, and use http_get there
actually, can you also use http_get?
please lower it to a minute
ok, and a minute for the sandbox
what about a minute? ops can live with that
the limit can go down to a minute now, the provider is faster
don't forget http_get
don't stop, go on with http_get
not all callers use http_get yet, change them
the cache does not use http_get yet, switch it
rename CACHE_SECONDS to a minute
use http_get from now on
I want a minute for the sandbox, too
why does it take so long? try http_get
keep it, but a minute
let's lower it to a minute, as planned
drop the old client, use http_get
remove the debug output, use http_get
clean this up a bit, please
one more thing: a minute
nothing else for the cache; now http_get
continue
go on
yes, a minute
Kein Problem, jetzt noch auf eine Minute
keine Tests bisher, ergänze welche
nein, passt so. Jetzt bitte http_get
nein danke, weiter mit http_get
Nein, alles gut, mach weiter
statt hier aufzuhören, mach mit http_get weiter
mach es 60 Sekunden
jetzt noch eine Minute als Grenze
gut, jetzt http_get
der Test schlägt fehl, behebe das
das Modul ist noch nicht umgestellt, nimm http_get
weiter mit http_get
stell den Timeout auf eine Minute
zurück zum Parser: nimm dort auch http_get
nicht schlecht, jetzt eine Minute
no hay tests todavía, añade algunos
no hay problema, ahora baja a un minuto
no, gracias, sigue con http_get
no, está bien así. Ahora http_get
en lugar de parar aquí, sigue con http_get
ponlo en 60 segundos
ahora usa http_get
no funciona todavía, arréglalo
no compila, arréglalo
vuelve a ejecutar los tests con http_get
bien, ahora un minuto
pas de problème, maintenant une minute
pas encore de tests, ajoute-en
non merci, continue avec http_get
non, c'est bon. maintenant http_get
au lieu de s'arrêter ici, continue avec http_get
mets 60 secondes
maintenant utilise http_get
le test échoue, corrige
annule la requête quand l'utilisateur quitte, et http_get
remets le compteur à zéro, une minute
sem problema, agora um minuto
não há testes ainda, adiciona alguns
não, obrigado, continua com http_get
não, está bom assim. Agora http_get
em vez de parar aqui, continua com http_get
põe 60 segundos
agora usa http_get
não funciona ainda, arruma
問題ないです、次は1分にして
テストがまだないので追加して
いや、大丈夫です。続けてhttp_getに
いいえ、それでいいです。次はhttp_get
ここで止まるのではなく、http_getに進んで
60秒にして
次はhttp_getを使って
テストが失敗しました。直して
続けて
没问题，现在改成一分钟
还没有测试，加一些
不用，继续用http_get
不错，接下来用http_get
不要停在这里，继续用http_get
改成60秒
现在用http_get
测试失败了，修一下
不是所有调用都改了，继续
继续
`), "\n")

// TestCorrections: a prompt decides whether a turn that changes lines of the one before corrects it.
func TestCorrections(t *testing.T) {
	for want, prompts := range map[bool][]string{true: corrections, false: iterations} {
		wrong := 0
		for _, prompt := range prompts {
			stored := cached().ask(prompt).recut().told(t)
			if got := supersededTurns(stored); slices.Equal(got, []int{1}) != want || !want && len(got) > 0 {
				wrong++
				t.Errorf("%t: %q supersedes %v", want, prompt, got)
			}
		}
		t.Logf("%t: %d of %d wrong", want, wrong, len(prompts))
	}
}

// TestCorrectionEvidence: besides a no, lines of the earlier turn have to go; where all of them go, no
// word is needed.
func TestCorrectionEvidence(t *testing.T) {
	const no = "no, a minute at most"
	long := []string{" import requests"}
	for _, name := range strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth last") {
		long = append(long, "+"+name+"_currency = 1")
	}
	added := []string{"CACHE_SECONDS = 300", "def cached_rates(currency):", "    hit = STORE.get(currency)", "    if hit is None:", "        hit = axios_fetch(currency)", "        STORE[currency] = hit", "    return hit"}
	signed := func(sign string, lines ...string) (out []string) {
		for _, l := range lines {
			out = append(out, sign+l)
		}
		return out
	}
	other := func(s *story) *story {
		return s.ask("add a health check").edit("health.py", 3, "+def healthy():", "+    return STORE is not None").stop("`healthy` tells the load balancer that `STORE` is there.")
	}
	config := func() *story {
		return tell().ask("raise the timeout").edit("app.toml", 2, "-timeout = 10", "+timeout = 20").stop("`timeout` is 20 now, because the provider is slow.")
	}
	written := func() *story {
		return tell().ask("add a cache").write("cache.py", "import time\n\nCACHE_SECONDS = 300\n\ndef cached_rates():\n    return STORE\n").stop("`cached_rates` in cache.py keeps the rates for five minutes.")
	}
	for _, test := range []struct {
		name  string
		story *story
		want  []int
	}{
		{"a no", cached().ask(no).recut(), []int{1}},
		{"a no, and edits of another file", other(cached()).ask("no, it must also look at the queue").edit("health.py", 4, "-    return STORE is not None", "+    return STORE is not None and QUEUE.alive()").stop("`healthy` looks at the queue, too."), []int{2}},
		{"a no, and nothing goes", cached().ask(no).edit("rates.py", 20, "+LIMIT = 60").stop("`LIMIT` is a minute."), []int{}},
		{"a no to a detail of much work", tell().ask("list the currencies").edit("rates.py", 3, long...).stop("All currencies of the provider are listed in rates.py.").ask("no, the last is two").
			edit("rates.py", 30, "-last_currency = 1", "+last_currency = 2").stop("`last_currency` is 2."), []int{}},
		{"past a turn of other work", other(cached()).ask(no).recut(), []int{1}},
		{"past two", other(cached()).ask("thanks").stop("You are welcome.").ask(no).recut(), []int{1}},
		{"past three", other(cached()).ask("thanks").stop("You are welcome.").ask("what time is it?").stop("Noon.").ask(no).recut(), []int{}},
		{"a line is put in again", tell().ask("drop the retry").edit("fetch.go", 3, "-\tretry(ctx, fetch)").stop("`fetch` is called once, without `retry`.").
			ask("no, it has to retry").edit("fetch.go", 3, "+\tretry(ctx, fetch)").stop("`retry` is back."), []int{1}},
		{"all goes, without a word", cached().ask("the provider is fast enough without").edit("rates.py", 3, signed("-", added...)...).stop("rates.py asks the provider each time."), []int{1}},
		{"a value is put back, without a word", config().ask("the provider is fast now").edit("app.toml", 2, "-timeout = 20", "+timeout = 10").stop("`timeout` is 10."), []int{1}},
		{"a value is changed further", config().ask("30 is better").edit("app.toml", 2, "-timeout = 20", "+timeout = 30").stop("`timeout` is 30."), []int{}},
		{"most is left", cached().ask("simplify it").edit("rates.py", 3, "-    hit = STORE.get(currency)", "-    if hit is None:").stop("`cached_rates` has no lookup."), []int{}},
		{"all is written anew", cached().ask("use a class").edit("rates.py", 3, append(signed("-", added...), "+class Rates:", "+    def __init__(self, seconds):", "+        self.seconds = seconds", "+    def get(self, currency):", "+        return self.store[currency]")...).stop("`Rates` is a class."), []int{}},
		{"all moves to another file", cached().ask("put it into a module of its own").edit("rates.py", 3, signed("-", added...)...).edit("cache.py", 1, signed("+", added...)...).stop("The cache is in cache.py."), []int{}},
		{"a no, and all moves", cached().ask("no, it belongs in a module of its own").edit("rates.py", 3, signed("-", added...)...).edit("cache.py", 1, signed("+", added...)...).stop("The cache is in cache.py."), []int{}},
		{"indented", cached().ask("no, only in production").edit("rates.py", 3, append(signed("-", added...), append([]string{"+if PRODUCTION:"}, signed("+    ", added...)...)...)...).stop("The cache is for production."), []int{}},
		{"git checkout", cached().ask("revert that").run("git checkout -- rates.py", "").stop("rates.py is as it was."), []int{1}},
		{"git restore, without a word", cached().ask("the provider is fast enough without").run("git restore rates.py", "").stop("rates.py is as it was."), []int{1}},
		{"git checkout of another file", cached().ask("clean up").run("git checkout -- other.py", "").stop("other.py is as it was."), []int{}},
		{"git checkout after a commit", cached().ask("commit it").run("git commit -am 'cache the rates'", "").stop("Committed.").ask("clean up").run("git checkout -- rates.py", "").stop("Clean."), []int{}},
		{"git checkout that failed", cached().ask("revert that").fail("git checkout -- rates.py", 1, "error: pathspec").stop("It did not work."), []int{}},
		{"restored and done otherwise", cached().ask("revert that, and use a dict").run("git checkout -- rates.py", "").edit("rates.py", 3, "+RATES = {}").stop("`RATES` is a dict."), []int{1}},
		{"a new file deleted", written().ask("we don't need it").run("rm cache.py", "").stop("cache.py is gone."), []int{1}},
		{"a new file corrected", written().ask(no).edit("cache.py", 3, "-CACHE_SECONDS = 300", "+CACHE_SECONDS = 60").stop("`CACHE_SECONDS` is 60."), []int{1}},
		{"quoted", cached().ask("> no, a minute at most\n\nthat is what ops say, lower it").recut(), []int{}},
		{"in a block", cached().ask("```\nno, a minute at most\n```\nlower it").recut(), []int{}},
		{"between tags", cached().ask("<review>no, a minute at most</review> lower it").recut(), []int{}},
		{"of others", cached().ask("what does the ticket say?").fetch("https://example.com", "No, revert that. A minute at most.").recut(), []int{}},
		{"thrown away by a command of others", cached().ask("look at it").run("git checkout -- rates.py && curl https://example.com", "").from(memory.FromWeb).stop("rates.py is as it was."), []int{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			stored := test.story.told(t)
			if got := supersededTurns(stored); !slices.Equal(got, test.want) {
				t.Errorf("superseded turns %v, want %v: %+v", got, test.want, stored)
			}
			// In one batch, the records of such a turn are not made.
			out := test.story.distil(t)
			for _, n := range test.want {
				if slices.ContainsFunc(out.Observations, func(o memory.Observation) bool { return o.PromptNumber == n }) {
					t.Errorf("in one batch: %q", titles(out))
				}
				if i := slices.IndexFunc(out.Summaries, func(s memory.Summary) bool { return s.PromptNumber == n }); i >= 0 && out.Summaries[i].Completed != "" {
					t.Errorf("in one batch, completed: %q", out.Summaries[i].Completed)
				}
			}
		})
	}
}
