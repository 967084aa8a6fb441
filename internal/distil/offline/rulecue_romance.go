package offline

import (
	"strings"

	"claudemem/internal/leaf/text"
)

// unlessOrder returns the describes function of a language whose orders are easier to
// list than its descriptions: a word behind "always" or "never" orders when it is an
// infinitive, one of the imperatives, or code.
func unlessOrder(infinitive func(string) bool, orders map[string]bool) func(string) bool {
	return func(word string) bool {
		code := word == "code" || strings.ContainsAny(word, "._/-:") && !strings.HasSuffix(word, ".")
		return !orders[word] && !infinitive(word) && !code
	}
}

// longEnding is endsIn for words of at least 5 bytes.
func longEnding(suffixes ...string) func(string) bool {
	ends := endsIn(suffixes...)
	return func(word string) bool { return len(word) >= 5 && ends(word) }
}

// What follows "always" or "never" in an order, besides infinitives.
var (
	frenchOrders     = text.Set("utilise utilisez écris écrivez mets mettez lance lancez garde gardez préfère préférez ajoute ajoutez passe passez de d' sans via avec en")
	portugueseOrders = text.Set("use usem usar utilize utilizem rode rodem execute escreva escrevam faça façam crie criem mantenha mantenham coloque prefira evite evitem abra com sem via por em")
	italianOrders    = text.Set("usa usate utilizza utilizzate scrivi scrivete esegui fai fate crea metti mantieni preferisci evita apri lancia usare scrivere fare committare modificare toccare con senza via in")
	spanishOrders    = text.Set("usa usad use uses usar utiliza utilices ejecuta ejecutes haz hagas escribe escribas pon pongas corre corras abre abras crea crees mantén mantengas evita prefiere sube subas modifiques toques borres añade añadas agrega agregues incluye incluyas importes cambies pregunta en con como")
)

var french = &ruleCues{
	label:       phrases("règle générale | règle pour ce | règle pour cette | règle pour notre | règle pour tous | règle pour toutes | règle du projet | règle de ce | règle de l'équipe | règle d'équipe | règles pour ce | règles du projet | règles de ce | notre règle | nos règles | comme règle | convention du projet | notre convention | retiens que | retenez que | souviens-toi que | rappelle-toi que | rappel : | note pour la suite | consigne générale | consignes générales"),
	onward:      phrases("désormais | dorénavant | à partir de maintenant | à l'avenir"),
	grants:      phrases("a un | a une | ont un | ont une | porte un | porte une | reçoit un | reçoit une | va dans | vont dans | commence par | commencent par"),
	lasting:     phrases("par principe | par convention | de manière générale | en règle générale | chaque fois que | la prochaine fois | plus jamais | avant chaque | après chaque | sans exception"),
	place:       phrases("dans ce projet | dans ce dépôt | dans ce repo | pour ce projet | pour ce dépôt | sur ce projet | sur ce dépôt | dans notre code | dans notre projet | dans notre dépôt | chez nous"),
	scope:       phrases("nous | on | notre | nos | ici | partout | l'équipe"),
	form:        phrases("ne | n'utilise | n'utilisez | n'ajoute | n'ajoutez | pas de | pas d' | utilise | utilisez | évite | évitez | préfère | préférez | garde | gardez | écris | écrivez | veille à | veillez à | assure-toi | assurez-vous | lance | lancez | mets | mettez | il faut | on utilise | on n'utilise | on écrit | on ne | nous utilisons | nous n'utilisons | nous écrivons | je préfère | je veux | je ne veux | seulement | uniquement"),
	habits:      phrases("on | nous | chaque | tous | toutes"),
	lacks:       phrases("on a | nous avons | on voit | on obtient | on reçoit | manque | besoin"),
	norm:        phrases("doit | doivent | devons | il faut"),
	please:      phrases("s'il te plaît | s'il vous plaît | stp | svp | merci de"),
	forbids:     phrases("ne | n' | pas de | pas d' | évite | évitez | plus de | plus d'"),
	again:       phrases("plus jamais | ne plus | plus de | plus d'"),
	because:     phrases("parce que | car | puisque | sinon | est généré | sont générés | ça bloque"),
	needs:       phrases("doit | doivent | a besoin | ont besoin | il faut"),
	all:         phrases("tous | toutes | tout | toute | chaque | aucun | aucune"),
	keeps:       phrases("ne doit pas changer | ne doivent pas changer | ne doit jamais | ne doivent jamais | doit rester | doivent rester | doit continuer | doivent continuer"),
	contrast:    phrases("plutôt que | au lieu de | au lieu d' | sans | pas"),
	adverbs:     text.Set("toujours jamais"),
	leaders:     text.Set("ne utilise utilisez écris écrivez fais faites mets mettez lance lancez garde gardez préfère ajoute ajoutez n'ajoute n'ajoutez n'utilise n'utilisez et mais aussi doit doivent devons faut merci"),
	describes:   unlessOrder(longEnding("er", "ir", "re"), frenchOrders),
	imperatives: frenchOrders,
	states:      text.Set("rouge boucle échec erreur panne cours retard train même"),
	elliptic:    text.Set("via avec sans en"),
	once:        phrases("pour l'instant | pour le moment | pas encore | encore | aujourd'hui | cette fois | tout de suite | maintenant | ce commit | cette pr | tant que | provisoirement | d'abord"),
	broken:      phrases("échoue | échouent | échec | plante | plantent | une erreur | des erreurs | l'erreur | en erreur | casse | cassent | cassé | bloque | bloquent | marche | marchent | fonctionne | fonctionnent | renvoie | renvoient | retourne | affiche | affichent | arrive | arrivent | tombe | tombent | rouge | vide"),
	hedge:       phrases("peut-être | je pense | je crois | il me semble | on dirait | apparemment | sans doute | ce serait bien | pourrait"),
	quotes:      phrases("dit | disent | message | selon | d'après | indique | la sortie | le log | les logs"),
	asks:        phrases("pourquoi | comment | quel | quelle | quels | quelles | qui | où | est-ce | peux-tu | tu peux | pourrais-tu | pouvez-vous | c'est quoi | faut-il | doit-on"),
	pronouns:    text.Set("ça cela ceci rien tout"),
	also:        phrases("et | aussi | également | de même"),
}

var portuguese = &ruleCues{
	label:       phrases("regra geral | regra do projeto | regra deste | regra para este | regra para todos | regra da equipe | regra da equipa | regras do projeto | regras deste | regras para este | nossa regra | nossas regras | como regra | convenção do projeto | nossa convenção | lembre que | lembre-se que | lembre-se de que | lembra que | lembra-te que | tenha em mente | tem em conta"),
	onward:      phrases("de agora em diante | a partir de agora | daqui em diante | daqui para a frente | daqui pra frente | no futuro"),
	grants:      phrases("leva | levam | tem um | tem uma | têm um | têm uma | recebe um | recebe uma | vai em | vão em | começa com | começam com"),
	nothing:     phrases("nada"),
	lasting:     phrases("da próxima vez | toda vez que | sempre que | cada vez que | por princípio | por convenção | antes de cada | depois de cada | nunca mais | sem exceção | sem exceções"),
	place:       phrases("neste projeto | nesse projeto | neste repo | neste repositório | nesse repositório | para este projeto | pra este projeto | no nosso código | no nosso projeto | no nosso repositório | aqui no projeto"),
	scope:       phrases("nós | a gente | nosso | nossa | nossos | nossas | aqui | o time | a equipe | a equipa | usamos | fazemos | escrevemos"),
	form:        phrases("não | use | usem | utilize | utilizem | evite | evitem | prefira | prefiram | mantenha | execute | rode | escreva | só | somente | apenas | usamos | não usamos | a gente usa | a gente não usa | prefiro | quero | não quero | faça | coloque"),
	habits:      phrases("usamos | escrevemos | fazemos | não usamos | a gente usa | a gente escreve | a gente faz | cada | todos | todas"),
	lacks:       phrases("temos | precisamos | vemos | tem | há"),
	norm:        phrases("deve | devem | devemos | tem que | têm que | tem de"),
	please:      phrases("por favor"),
	forbids:     phrases("não | nunca | jamais | evite | evitem"),
	again:       phrases("nunca mais | de novo | outra vez | não mais"),
	because:     phrases("porque | pois | já que | senão | caso contrário | é gerado | são gerados | pode bloquear"),
	needs:       phrases("deve | devem | tem que | têm que | precisa | precisam | leva | levam | vai | vão"),
	all:         phrases("todo | toda | todos | todas | cada | nenhum | nenhuma"),
	keeps:       phrases("não deve mudar | não devem mudar | não pode mudar | não podem mudar | deve continuar | devem continuar | deve permanecer | tem que continuar"),
	contrast:    phrases("não | em vez de | ao invés de | no lugar de | sem | e sim"),
	adverbs:     text.Set("sempre nunca jamais"),
	leaders:     text.Set("use usem utilize rode execute faça escreva ponha crie mantenha e mas também deve devem devemos que favor usamos fazemos escrevemos"),
	describes:   unlessOrder(longEnding("ar", "er", "ir"), portugueseOrders),
	imperatives: portugueseOrders,
	states:      text.Set("vermelho loop erro igual mesmo mesma"),
	elliptic:    text.Set("com sem via por em"),
	once:        phrases("ainda | por enquanto | por ora | hoje | desta vez | dessa vez | agora | até | primeiro"),
	broken:      phrases("falha | falham | falhando | um erro | o erro | erro ao | em erro | erro no | dá erro | quebra | quebram | quebrado | trava | travam | retorna | retornam | devolve | termina | terminam | mostra | mostram | demora | aparece | aparecem | sai | dá | imprime | funciona | funcionam | chega | chegam | passa | passam | cai | vermelho | vazio"),
	hedge:       phrases("talvez | acho que | parece | creio que | suponho | seria bom"),
	quotes:      phrases("diz | dizem | mensagem | saída | segundo | o log"),
	asks:        phrases("por que | como | qual | quais | quem | onde | o que | pode | poderia | dá pra | será que | é possível | consegue"),
	pronouns:    text.Set("isso isto aquilo nada algo tudo"),
	also:        phrases("e | também | além disso"),
}

var italian = &ruleCues{
	label:       phrases("regola generale | regola del progetto | regola di questo | regola per questo | regola per tutti | regole del progetto | regole di questo | regole per questo | la nostra regola | le nostre regole | come regola | convenzione del progetto | la nostra convenzione | ricorda che | ricordati che | ricordatevi che | tieni presente che | tenete presente che"),
	onward:      phrases("d'ora in poi | d'ora in avanti | da ora in poi | da adesso in poi | in futuro"),
	grants:      phrases("ha un | ha una | ha un' | hanno un | hanno una | riceve un | riceve una | va in | vanno in | inizia con | iniziano con"),
	lasting:     phrases("la prossima volta | ogni volta che | per principio | per convenzione | prima di ogni | dopo ogni | mai più | senza eccezioni"),
	place:       phrases("in questo progetto | in questo repo | in questo repository | per questo progetto | nel nostro codice | nel nostro progetto | nel nostro repo"),
	scope:       phrases("noi | nostro | nostra | nostri | nostre | qui | il team | ovunque | usiamo | scriviamo | facciamo"),
	form:        phrases("non | usa | usate | utilizza | utilizzate | evita | evitate | preferisci | mantieni | esegui | scrivi | scrivete | assicurati | solo | soltanto | usiamo | non usiamo | preferisco | voglio | non voglio | metti"),
	habits:      phrases("usiamo | scriviamo | facciamo | non usiamo | ogni | tutti | tutte"),
	lacks:       phrases("abbiamo | vediamo | serve | c'è | ci sono"),
	norm:        phrases("deve | devono | dobbiamo | bisogna"),
	please:      phrases("per favore | per piacere"),
	forbids:     phrases("non | mai | evita | evitate | niente"),
	again:       phrases("mai più | di nuovo | un'altra volta | più"),
	because:     phrases("perché | poiché | altrimenti | se no | viene generato | è generato | può bloccare"),
	needs:       phrases("deve | devono | ha bisogno | hanno bisogno | va | vanno"),
	all:         phrases("tutti | tutte | ogni | nessun | nessuna"),
	keeps:       phrases("non deve cambiare | non devono cambiare | deve rimanere | devono rimanere | deve restare | devono restare"),
	contrast:    phrases("non | invece di | al posto di | anziché | senza"),
	adverbs:     text.Set("sempre mai"),
	leaders:     text.Set("usa usate utilizza scrivi scrivete esegui fai fate crea metti mettete e ma anche deve devono dobbiamo che favore usiamo scriviamo facciamo fare usare scrivere"),
	describes:   unlessOrder(longEnding("are", "ere", "ire"), italianOrders),
	imperatives: italianOrders,
	states:      text.Set("rosso loop errore ritardo tempo stesso stessa"),
	elliptic:    text.Set("con senza via in"),
	once:        phrases("ancora | per ora | per adesso | al momento | oggi | stavolta | questa volta | adesso | finché | prima"),
	broken:      phrases("fallisce | falliscono | un errore | l'errore | in errore | errore di | rompe | rompono | rotto | blocca | bloccano | restituisce | ritorna | termina | terminano | mostra | mostrano | compare | stampa | funziona | funzionano | arriva | arrivano | passa | passano | rosso | vuoto | crash"),
	hedge:       phrases("forse | penso che | credo che | sembra | pare | magari"),
	quotes:      phrases("dice | dicono | messaggio | secondo | output | il log"),
	asks:        phrases("come mai | come | quale | quali | chi | dove | cosa | che cosa | puoi | potresti | è possibile | dobbiamo | perché"),
	pronouns:    text.Set("questo quello ciò niente qualcosa tutto"),
	also:        phrases("e | anche | inoltre"),
}
