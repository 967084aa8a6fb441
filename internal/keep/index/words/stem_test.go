package words

import (
	"strings"
	"testing"
)

// The pairs are the examples of Porter's paper, step by step, and words of the trade.
func TestStem(t *testing.T) {
	for line := range strings.Lines(`
caresses caress  ponies poni  ties ti  caress caress  cats cat
feed feed  plastered plaster  bled bled  motoring motor  sing sing
conflated conflat  troubled troubl  sized size  hopping hop  tanned tan  falling fall  hissing hiss  fizzed fizz
failing fail  filing file  happy happi  sky sky
relational relat  conditional condit  rational ration  valenci valenc  hesitanci hesit  digitizer digit
conformabli conform  radicalli radic  differentli differ  vileli vile  analogousli analog
vietnamization vietnam  predication predic  operator oper  feudalism feudal  decisiveness decis
hopefulness hope  callousness callous  formaliti formal  sensitiviti sensit  sensibiliti sensibl
triplicate triplic  formative form  formalize formal  electriciti electr  electrical electr  hopeful hope  goodness good
revival reviv  allowance allow  inference infer  airliner airlin  gyroscopic gyroscop  adjustable adjust
defensible defens  irritant irrit  replacement replac  adjustment adjust  dependent depend  adoption adopt
homologou homolog  communism commun  activate activ  angulariti angular  homologous homolog  effective effect  bowdlerize bowdler
probate probat  rate rate  cease ceas  roll roll
generalizations gener  oscillators oscil
caching cach  cached cach  caches cach  cache cach
authentication authent  authenticate authent  authenticated authent
queries queri  query queri  retries retri  retry retri  indexes index  indexing index
a a  is is  by by  go go  yes ye  yy yy  the the  e2e e2e  été été
`) {
		pairs := strings.Fields(line)
		for i := 0; i+1 < len(pairs); i += 2 {
			if got := stemmed(pairs[i]); got != pairs[i+1] {
				t.Errorf("stem of %s is %s, want %s", pairs[i], got, pairs[i+1])
			}
		}
	}
}
