package offline

import (
	"bytes"
	_ "embed" // for the weights
	"encoding/json"
	"fmt"
)

//go:embed weights.json
var weightsFile []byte

// Weights are what the features of a candidate are worth, by their names: one set for a
// title, one for what stands beside a given title. `make learn-choice` learns them.
type Weights struct {
	Title    map[string]float64 `json:"title"`
	Subtitle map[string]float64 `json:"subtitle"`

	title, subtitle vector
}

// vector is a set of weights in the order of the features.
type vector [numFeatures]float64

// score returns the sum of the features, each times its weight.
func (v *vector) score(f *features) float64 {
	sum := 0.0
	for i := range v {
		sum += v[i] * f[i]
	}
	return sum
}

// ReadWeights reads weights and checks that they name every feature and nothing else.
func ReadWeights(data []byte) (*Weights, error) {
	w := &Weights{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(w); err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	for _, set := range []struct {
		named map[string]float64
		into  *vector
	}{{w.Title, &w.title}, {w.Subtitle, &w.subtitle}} {
		for i, name := range featureNames {
			v, ok := set.named[name]
			if !ok {
				return nil, fmt.Errorf("read weights: no weight of %s", name)
			}
			set.into[i] = v
		}
		if len(set.named) != numFeatures {
			return nil, fmt.Errorf("read weights: %d weights of %d features", len(set.named), numFeatures)
		}
	}
	return w, nil
}

// learnt are the weights that are compiled in.
var learnt = func() *Weights {
	w, err := ReadWeights(weightsFile)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return w
}()

// Choice is one training example, of a turn: the candidates for its title and its subtitle
// with their features.
type Choice struct {
	// Titles are the candidates for the title, none if the evidence gave it; Subtitles
	// those for what stands beside Title.
	Title             string
	Titles, Subtitles []Candidate
}

// Candidate is a text with the values of its features, which have the order of
// FeatureNames.
type Candidate struct {
	Text   string
	Values []float64
}

// FeatureNames returns the names of the features in the order of a candidate's values. The caller
// must not change them.
func FeatureNames() []string { return featureNames[:] }

// trainingExample returns the choice for proof/eval/choose. It has no titles if free is false: then
// evidence gave the title, and none was chosen.
func (c *chooser) trainingExample(out *pick, free bool) Choice {
	choice := Choice{Title: out.title}
	said := rareWords(out.title)
	for i := range c.list {
		x := &c.list[i]
		if s := c.titleOf(x); s != "" && free {
			f := c.featuresOf(x, maxTitle)
			choice.Titles = append(choice.Titles, Candidate{s, f[:]})
		}
		if s, f := c.besideTitle(x, maxSubtitle, said); s != "" {
			choice.Subtitles = append(choice.Subtitles, Candidate{s, f[:]})
		}
	}
	return choice
}
