package main

import (
	"slices"
	"strings"

	"claudemem/internal/keep/index/words"
	"claudemem/proof/eval/plain"
)

// whole is the share of a label's words from which it counts as there.
const whole = .8

// contentWords returns the words of a text that count, each once: its runs of letters and
// digits in lower case, without stop words. Numbers count.
func contentWords(text string) []string {
	list := slices.DeleteFunc(plain.Runs(strings.ToLower(text)), words.IsStop)
	slices.Sort(list)
	return slices.Compact(list)
}

// wordShare returns which share of a label's content words a text has; 0 for a label without any.
func wordShare(label, text string) float64 {
	wanted, has := contentWords(label), contentWords(text)
	if len(wanted) == 0 {
		return 0
	}
	n := 0
	for _, w := range wanted {
		if _, found := slices.BinarySearch(has, w); found {
			n++
		}
	}
	return float64(n) / float64(len(wanted))
}

// size returns how many words a text has: what stands between spaces.
func size(text string) int { return len(strings.Fields(text)) }

// keySentences returns the sentences of talks that have most of a label's words, at most three:
// each adds the most words to those before it. They keep their order.
func keySentences(label string, talks []talk) []string {
	var all []string
	for _, t := range talks {
		for _, x := range t.turns {
			for _, s := range sentences(x.Text) {
				all = append(all, x.Role+": "+s)
			}
		}
	}
	var chosen []int
	text := ""
	for range 3 {
		best, most := -1, wordShare(label, text)
		for i, s := range all {
			if share := wordShare(label, text+"\n"+s); share > most {
				best, most = i, share
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, best)
		text += "\n" + all[best]
	}
	slices.Sort(chosen)
	key := make([]string, len(chosen))
	for i, at := range chosen {
		key[i] = all[at]
	}
	return key
}

// sentences cuts a text at line ends and after the dots, question and exclamation marks that a
// space follows.
func sentences(text string) (list []string) {
	for line := range strings.Lines(text) {
		from := 0
		for i := 1; i < len(line); i++ {
			if line[i] == ' ' && strings.IndexByte(".?!", line[i-1]) >= 0 {
				list = append(list, strings.TrimSpace(line[from:i]))
				from = i
			}
		}
		if rest := strings.TrimSpace(line[from:]); rest != "" {
			list = append(list, rest)
		}
	}
	return list
}
