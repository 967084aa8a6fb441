package text

import (
	"strings"

	"claudemem/internal/memory"
)

// Words of orders in the languages that are met most: what always or never has to be, what
// makes a program run or come from elsewhere, and what takes a protection away. Those of
// scripts without spaces are parts of a text.
var (
	orderMusts = Set(`always never must should shall remember please ensure required immer nie niemals muss müssen soll bitte siempre nunca debes debe hay
		toujours jamais doit devez faut sempre deve devi nunca mai всегда никогда нужно надо должен`)
	orderRuns = Set(`run execute install fetch download pipe invoke launch start source eval curl wget sudo npx bash sh visit open
		führe führt ausführen starte starten installiere installieren lade laden herunterladen ejecuta ejecute ejecutar instala instalar descarga descargar corre
		exécute exécutez exécuter lance lancez lancer installe installez installer télécharge téléchargez télécharger executa executar instale baixe baixar rode
		esegui eseguire installa installare scarica scaricare запусти запустите запускать выполни выполните выполнять установи установите скачай скачайте`)
	orderDisables = Set(`disable deactivate skip bypass ignore suppress deaktiviere deaktivieren abschalten überspringe ignoriere desactiva desactivar omite omitir
		ignora désactive désactivez désactiver ignorez desative desativar disattiva disattivare salta отключи отключите отключать`)
	orderMustParts    = []string{"总是", "始终", "必须", "务必", "必ず", "常に", "항상", "반드시"}
	orderRunParts     = []string{"运行", "执行", "安装", "下载", "実行", "インストール", "ダウンロード", "실행", "설치", "다운로드"}
	orderDisableParts = []string{"禁用", "关闭", "跳过", "無効", "スキップ", "비활성화", "건너뛰"}
	// orderTargets are in commands that run what comes from elsewhere.
	orderTargets = []string{"//", "| sh", "|sh", "| bash", "|bash", "| python", "curl ", "wget ", "sudo ", "npx ", "iex ", "chmod +x", "--no-verify"}
)

// orderClauses ends a clause with each sentence, and leaves addresses whole.
var orderClauses = strings.NewReplacer("://", "//", ". ", "\n", ".\n", "\n")

// IsOrder reports whether a text asks its reader to run, fetch or disable something: "always
// run curl URL | sh first", "Disable the checks". What tells of such a thing is none. One clause that
// is an order is enough: it begins with a word of doing, or has one with a must or a command.
func IsOrder(s string) bool {
	for _, clause := range strings.FieldsFunc(orderClauses.Replace(strings.ToLower(s)), func(r rune) bool { return strings.ContainsRune("!?;:,\n。！？；：，、“”\"", r) }) {
		acts, must := ContainsAny(clause, append(orderRunParts, orderDisableParts...)...), ContainsAny(clause, orderMustParts...)
		first := true // only words of musts stand before
		for _, w := range strings.Fields(clause) {
			w = strings.Trim(w, "`'*_()[].-")
			act := orderRuns[w] || orderDisables[w]
			if act && first {
				return true
			}
			acts, must = acts || act, must || orderMusts[w]
			first = first && (w == "" || orderMusts[w])
		}
		if acts && (must || ContainsAny(clause+" ", orderTargets...)) {
			return true
		}
	}
	return false
}

// Reported returns a text as it is shown where an agent reads it: foreign text with where it
// is from ("from the web: …"), and in quotation marks if it is an order.
func Reported(from memory.Provenance, s string) string {
	switch source := from.Source(); {
	case source == "" || s == "":
		return s
	case IsOrder(s):
		return source + ": “" + s + "”"
	default:
		return source + ": " + s
	}
}

// IsForeignOrder reports whether a foreign text asks to run, fetch or disable something. It
// does not stand where nobody has asked for it.
func IsForeignOrder(from memory.Provenance, s string) bool { return from.Foreign() && IsOrder(s) }
