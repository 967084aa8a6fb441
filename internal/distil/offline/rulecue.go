package offline

import (
	"strings"

	"claudemem/internal/leaf/text"
)

// ruleCues are the words by which one language states a standing rule, and those that
// speak against one. All are in lower case; phrases match at the bounds of words.
type ruleCues struct {
	// label names a rule as such, onward says that it holds from now on, lasting that it
	// holds for good (init adds onward to it), place and scope say where or for whom.
	label, onward, lasting, place, scope []string
	// form begins a clause that orders or bans, norm says what has to be, please asks;
	// forbids bans, again says of a ban that it is meant for good, because gives its reason.
	form, norm, please, forbids, again, because []string
	// all begins a clause about every one of a kind, needs says what such a one has to
	// have, keeps that something stays as it is, contrast what shall not be done instead.
	all, needs, keeps, contrast []string
	// grants say what every one of a kind gets, where onward says that it begins now.
	grants []string
	// habits begin a clause about what all do, unless a word of lacks is in it.
	habits, lacks []string
	// adverbs (always, never) order after one of leaders or at the beginning of a clause,
	// unless a word of states, or of a form that describes, comes next.
	adverbs, leaders, states map[string]bool
	describes                func(word string) bool
	// imperatives are the orders that an adverb may follow: "usa siempre pnpm".
	imperatives map[string]bool
	// elliptic are the words that follow an adverb in an order without a verb.
	elliptic map[string]bool
	// infinitive tells the last word of an order without a verb form: "immer … testen".
	infinitive func(word string) bool
	// once limits an order to now, broken tells of a failure, hedge doubts, quotes
	// introduces what others say, asks begins a question.
	once, broken, hedge, quotes, asks []string
	// nothing limits an order to now ("don't change anything") that is not onward.
	nothing []string
	// pronouns are objects that only this conversation knows.
	pronouns map[string]bool
	// also continues a list of rules.
	also []string
}

func init() {
	for _, c := range ruleLanguages {
		c.lasting = append(c.lasting, c.onward...)
	}
}

// phrases splits a list of phrases, separated by " | ".
func phrases(list string) []string { return strings.Split(list, " | ") }

// endsIn returns a function that reports whether a word ends in one of suffixes; without
// suffixes none does.
func endsIn(suffixes ...string) func(string) bool {
	return func(word string) bool {
		for _, s := range suffixes {
			if strings.HasSuffix(word, s) {
				return true
			}
		}
		return false
	}
}

// artefacts begin the words for what programmers make, in several languages; shorter
// words than 4 letters are whole words.
var artefacts = phrases("funct | funkt | func | fonct | funç | funz | method | métod | méthod | class | klass | clase | test | modul | módul | endpoint | migrat | migrac | migraç | migraz | commit | pr | prs | merge | pull | component | komponent | compon | packag | paket | paquet | pacote | servic | serviç | serviz | dienst | quer | abfrage | consult | requêt | table | tabell | tabla | tabel | column | spalte | colonn | colun | script | hook | rout | handler | struct | interfac | file | files | datei | archiv | fichier | arquiv | field | bugfix | fix | feature | änderung | change | cambio | changement | enum | type | typ | api | branch | rama | zweig | variab | constant | konstant | export | job | workflow | error")

// ruleLanguages are the languages whose rules are understood.
var ruleLanguages = []*ruleCues{english, german, spanish, french, portuguese, italian, japanese, chinese}

var english = &ruleCues{
	label:    phrases("remember: | remember that we | reminder: | policy: | one rule: | note for the future | for the future | for all future | keep in mind that | for the record | general rule | rule for this | rule for our | rule for all | rules for this | rules for our | house rule | house rules | ground rule | ground rules | project rule | our rule | our rules | as a rule | our convention | standing rule | standing order | team rule"),
	onward:   phrases("from now on | going forward | from here on | in future | in the future | henceforth"),
	grants:   phrases("gets a | gets an | get a | get an | gets its | get their | has a | has an | have a | have an | has its | have their | comes with | come with | carries a | carry a | goes into | go into | goes in | go in | lives in | live in | belongs in | belong in | starts with | start with | ends in | end in"),
	lasting:  phrases("next time | every time | each time | whenever | for all our work | when you change | when you add | when you touch | when you edit | if you change | if you add | if you touch | when adding | when changing | when touching | on principle | by convention | in general | at all times | no exceptions | before every | before each | after every | after each"),
	place:    phrases("in this project | in this repo | in this repository | in this codebase | in this code base | for this project | for this repo | for this repository | for this codebase | in our code | in our project | in our repo | in our codebase"),
	scope:    phrases("we | our | here | everywhere | the team | us"),
	form:     phrases("don't | do not | dont | no | avoid | prefer | keep | make sure | ensure | stick to | only | run | write | we use | we only | we don't | we do not | i don't want | i prefer | we prefer | put | stop"),
	habits:   phrases("we | every | each | all"),
	lacks:    phrases("we have | need | see | get | are | had | got | should | can | want | know"),
	norm:     phrases("must | are to be | is to be | go through"),
	please:   phrases("please"),
	forbids:  phrases("don't | do not | dont | never | avoid | no more | i don't want"),
	again:    phrases("no more | again | anymore | any more | ever"),
	because:  phrases("because | since | otherwise | it can | it may | it would | it will | it's generated | it is generated | that breaks | this breaks | it breaks | it blocks"),
	all:      phrases("all | every | each | any | no"),
	needs:    phrases("must | must have | needs a | needs an | need a | need an | should have | are to be | is to be"),
	keeps:    phrases("must not change | must never | must stay | must remain | must not be changed | may not change | has to stay the | have to stay the | must keep | must be kept | must not break | must continue to"),
	contrast: phrases("not | instead of | rather than | over | without"),
	adverbs:  text.Set("always never"),
	leaders:  text.Set("we you i please must should shall to and but also so then do "),
	states: text.Set(`mind my the a an this that it its same red green empty null nil true false had getting got gets been was is are were seen saw see knew know heard
		hear get noticed notice found find did ever again happened managed thought expected hit had fail crash hang end seem mean feel quite really only come happen wrong slow forget forgot wonder`),
	describes: func(w string) bool {
		return strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "eed") && w != "embed" || strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "ing")
	},
	elliptic: text.Set("in with via as through behind under per"),
	once:     phrases("yet | for now | right now | now | today | tonight | this time | this once | at the moment | for the moment | for a moment | this pr | this commit | this change | first pass"),
	broken:   phrases("fail | fails | failing | failed | crash | crashes | hang | hangs | broken | error | exception | panic | panics | pass | passes | green | work | works | finishes | returns | come back | every time i | each time i | whenever i | that's the bug | that is the bug | that's wrong | every time it | next time i | next time it"),
	hedge:    phrases("maybe | i think | i guess | perhaps | i wonder | would be nice | might | i suppose | it seems | seems to | looks like | apparently"),
	quotes:   phrases("says | said | saying | the log | prints | complains | according to"),
	asks:     phrases("why | how | which | who | where | does | did | is | are | was | can | could | would | should we | should i | what's | what is | what does | what do | what are | what did | do we | do you | do i"),
	pronouns: text.Set(`it this that them those these anything something everything`),
	also:     phrases("and | also | plus | same for | likewise"),
}

var german = &ruleCues{
	label:      phrases("merk dir | merke dir | denk daran | denk dran | allgemeine regel | generelle regel | grundregel | regel für dieses | regel für unser | regel für alle | regeln für dieses | regeln für unser | regel im projekt | unsere regel | unsere regeln | projektregel | unsere konvention | bei uns gilt | hier gilt | es gilt | als regel"),
	onward:     phrases("ab jetzt | ab sofort | von jetzt an | von nun an | künftig | zukünftig | in zukunft"),
	grants:     phrases("bekommt | bekommen | erhält | erhalten | hat ein | hat eine | hat einen | haben ein | haben eine | haben einen | kommt in | kommen in | liegt in | liegen in | gehört in | gehören in | trägt | tragen"),
	lasting:    phrases("grundsätzlich | generell | prinzipiell | jedes mal | jedesmal | nächstes mal | nächste mal | beim nächsten mal | immer wenn | nie wieder | vor jedem | vor jeder | nach jedem | nach jeder | ohne ausnahme"),
	place:      phrases("in diesem projekt | in diesem repo | in diesem repository | in dieser codebasis | für dieses projekt | für dieses repo | in unserem code | in unserem projekt | in unserem repo | hier im projekt | hier im repo"),
	scope:      phrases("wir | uns | unser | unsere | unseren | hier | überall | im team"),
	form:       phrases("nicht | kein | keine | keinen | nur | verwende | nutze | benutze | vermeide | achte | halte | schreib | schreibe | wir verwenden | wir nutzen | wir benutzen | wir machen | wir schreiben"),
	habits:     phrases("wir | schreiben wir | verwenden wir | nutzen wir | benutzen wir | machen wir | jede | jeder | jedes | alle"),
	lacks:      phrases("haben | brauchen | sehen | bekommen | sind | sollten | können | wollen"),
	norm:       phrases("soll | sollen | muss | müssen | darf | dürfen"),
	please:     phrases("bitte"),
	forbids:    phrases("nicht | kein | keine | keinen | nie | niemals | vermeide"),
	again:      phrases("nicht mehr | nie wieder | nicht wieder | nicht noch einmal | nicht nochmal | mehr"),
	because:    phrases("weil | denn | da | sonst | ansonsten | andernfalls | wird generiert | ist generiert | das blockiert | kann blockieren"),
	needs:      phrases("soll | sollen | muss | müssen | darf | dürfen | braucht | brauchen | gehört | gehören | bekommt | bekommen"),
	all:        phrases("alle | jede | jeder | jedes | jeden | kein | keine | sämtliche"),
	keeps:      phrases("darf sich nicht ändern | dürfen sich nicht ändern | darf nicht geändert | dürfen nicht geändert | muss gleich bleiben | muss so bleiben | muss kompatibel bleiben | muss erhalten bleiben | müssen erhalten bleiben | müssen gleich bleiben"),
	contrast:   phrases("nicht | statt | anstatt | anstelle | ohne | sondern"),
	adverbs:    text.Set("immer nie niemals stets"),
	leaders:    text.Set("wir du ich bitte und aber auch muss müssen soll sollen sollte sollten darf dürfen verwende nutze benutze schreib schreibe push pushe committe teste führe nimm mach mache lass verwenden nutzen benutzen schreiben machen halten testen nehmen setzen erst"),
	states:     text.Set("noch mehr wieder schon rot grün leer der die das ein eine derselbe dieselbe dasselbe langsamer größer"),
	describes:  endsIn(),
	infinitive: endsIn("en", "ern", "eln"),
	elliptic:   text.Set("auf in mit über per als via"),
	once:       phrases("erstmal | erst mal | noch nicht | noch nichts | jetzt noch | vorerst | vorläufig | heute | diesmal | dieses mal | gerade | im moment | momentan | bis"),
	broken:     phrases("fehl | fehler | schlägt | schlagen | scheitert | scheitern | kaputt | absturz | stürzt | stürzen | hängt | hängen | abbrechen | bricht | rot | läuft | laufen | kommt | funktioniert | funktionieren | geht | liefert"),
	hedge:      phrases("vielleicht | ich glaube | ich denke | vermutlich | eventuell | scheint | anscheinend | wäre schön"),
	quotes:     phrases("sagt | meldet | schreibt | meldung | ausgabe | laut"),
	asks:       phrases("warum | wieso | weshalb | wie | welche | welcher | welches | wer | wo | ist | sind | kann | können | könnte | soll ich | sollen wir | was ist | was macht | hast | gibt es"),
	pronouns:   text.Set("es dies dieses ihn alles etwas nichts"),
	also:       phrases("und | auch | außerdem | ebenso | dazu"),
}

var spanish = &ruleCues{
	label:       phrases("recuerda que | ten en cuenta | regla general | norma general | como regla | como norma | regla del proyecto | regla de este | reglas del proyecto | reglas de este | norma del | normas del | nuestra regla | nuestra norma | convención del proyecto | nuestra convención | regla para este | reglas para este"),
	onward:      phrases("a partir de ahora | de ahora en adelante | desde ahora | en adelante | en el futuro"),
	grants:      phrases("lleva | llevan | tiene un | tiene una | tienen un | tienen una | recibe un | recibe una | empieza por | empiezan por | va en | van en"),
	nothing:     phrases("nada"),
	lasting:     phrases("la próxima vez | cada vez que | siempre que | por norma | por regla | por principio | antes de cada | después de cada | nunca más | sin excepciones | sin excepción"),
	place:       phrases("en este proyecto | en este repo | en este repositorio | para este proyecto | para este repo | en nuestro código | en nuestro proyecto | en nuestro repo | en esta base de código"),
	scope:       phrases("nosotros | nuestro | nuestra | nuestros | nuestras | aquí | el equipo | en todas partes | usamos | hacemos | escribimos"),
	form:        phrases("no | usa | usad | use | utiliza | evita | prefiere | mantén | asegúrate | ejecuta | escribe | solo | sólo | usamos | no usamos | prefiero | haz | pon"),
	habits:      phrases("usamos | escribimos | hacemos | no usamos | cada | todos | todas"),
	lacks:       phrases("tenemos | necesitamos | vemos | hay"),
	norm:        phrases("se | debe | deben | debemos | hay que | tiene que | tienen que"),
	please:      phrases("por favor"),
	forbids:     phrases("no | nunca | jamás | evita"),
	again:       phrases("no vuelvas | no volváis | otra vez | de nuevo | nunca más | no más"),
	because:     phrases("porque | ya que | si no | de lo contrario | puede bloquear | se genera | está generado | es generado"),
	needs:       phrases("debe | deben | tiene que | tienen que | necesita | necesitan | lleva | llevan | va | van"),
	all:         phrases("todo | toda | todos | todas | cada | ningún | ninguna"),
	keeps:       phrases("no debe cambiar | no deben cambiar | no puede cambiar | no pueden cambiar | debe seguir siendo | debe mantenerse | deben mantenerse | debe permanecer"),
	contrast:    phrases("no | en vez de | en lugar de | sin | sino"),
	adverbs:     text.Set("siempre nunca jamás"),
	leaders:     text.Set("usa usad use utiliza ejecuta haz escribe pon corre abre crea mantén evita prefiere y pero también debe deben debemos que por favor usamos hacemos escribimos no uses hagas subas"),
	states:      text.Set("el la los las un una lo me nos se es son está están ha han había he igual mismo rojo vacío falla fallan da dan sale salen devuelve devuelven termina terminan muestra tarda aparece rompe cuelga imprime retorna funciona llega pasa queda"),
	describes:   unlessOrder(longEnding("ar", "er", "ir"), spanishOrders),
	imperatives: spanishOrders,
	elliptic:    text.Set("en con como"),
	once:        phrases("todavía | aún | por ahora | de momento | por el momento | hoy | esta vez | ahora mismo | hasta que | hasta"),
	broken:      phrases("falla | fallan | fallando | un error | errores | el error | da error | error al | error en | con error | rompe | rompen | roto | cuelga | cuelgan | devuelve | devuelven | termina | terminan | muestra | muestran | tarda | aparece | aparecen | sale | salen | da | dan | imprime | retorna | funciona | funcionan | llega | llegan | pasa | pasan"),
	hedge:       phrases("quizás | quizá | tal vez | creo que | supongo | parece | me parece"),
	quotes:      phrases("dice | dicen | mensaje | salida | según"),
	asks:        phrases("por qué | cómo | cuál | cuáles | quién | dónde | qué | puedes | podrías | es posible"),
	pronouns:    text.Set("eso esto ello nada algo todo"),
	also:        phrases("y | también | además | igual"),
}

var japanese = &ruleCues{
	label:     phrases("ルール: | ルール： | ルールとして | 規約として | 決まりとして | 原則として | 方針として"),
	lasting:   phrases("今後 | これからは | これから先 | 以後 | 以降は | 次回から | 次からは | 毎回 | 常に | 必ず | 絶対に | 決して | いつも | たびに | 二度と"),
	place:     phrases("このプロジェクトでは | このリポジトリでは | このレポジトリでは | このコードベースでは | うちでは | 当プロジェクトでは"),
	scope:     phrases("このプロジェクト | このリポジトリ | 私たち | 我々 | チーム | 全て | すべて"),
	please:    phrases("ください | 下さい"),
	form:      phrases("ないで | ないこと | しない | いけない | いけません | 禁止 | してください | て下さい | てください | すること | 使うこと | 使う | べき | 使います | します | のみ | だけ"),
	forbids:   phrases("ないで | ないこと | いけない | いけません | 禁止 | しない"),
	again:     phrases("二度と | もう"),
	because:   phrases("ので | ため | から"),
	all:       phrases("全ての | すべての | どの"),
	keeps:     phrases("変えてはいけない | 変えてはいけません | 変更してはいけない | 変更してはいけません | 維持すること | 変えないこと"),
	contrast:  phrases("ではなく | じゃなく | の代わりに"),
	describes: endsIn(),
	once:      phrases("まだ | 今回 | とりあえず | 今は | 一旦 | いったん | 今日"),
	broken:    phrases("失敗 | エラー | 落ち | 壊れ | 返ら | 返り | 止まり | 動か | 表示され | なります | なる"),
	hedge:     phrases("かもしれ | と思います | ようです | らしい"),
	quotes:    phrases("によると | というエラー | と言"),
	asks:      phrases("なぜ | どうして | どうやって"),
	also:      phrases("また | あと | それと | さらに"),
}
