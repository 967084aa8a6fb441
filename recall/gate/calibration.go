package gate

import (
	"bytes"
	_ "embed" // for the calibration
	"encoding/json"
	"fmt"
	"math"
)

//go:embed calibration.json
var calibrationFile []byte

// Calibration has the weights and thresholds that were fitted to labelled data.
type Calibration struct {
	// Calibrated is the day of the fit, Source the data and the program.
	Calibrated string `json:"calibrated"`
	Source     string `json:"source"`
	Prompt     Model  `json:"prompt"`
}

// Model adds up measures.
type Model struct {
	Bias float64 `json:"bias"`
	// Weights are by the names of Measures.
	Weights map[string]float64 `json:"weights"`
	// Open is the sum that the best record needs for anything to be given, Further
	// what the others need then.
	Open    float64 `json:"open"`
	Further float64 `json:"further"`

	weights [numMeasures]float64 // in the order of Measures
}

// ReadCalibration reads a calibration and checks that it says something of every
// measure and of nothing else.
func ReadCalibration(data []byte) (Calibration, error) {
	var c Calibration
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("read calibration: %w", err)
	}
	m := &c.Prompt
	for i, name := range Measures() {
		w, ok := m.Weights[name]
		if !ok {
			return c, fmt.Errorf("read calibration: no weight of %s", name)
		}
		m.weights[i] = w
	}
	if len(m.Weights) != numMeasures {
		return c, fmt.Errorf("read calibration: %d weights of %d measures", len(m.Weights), numMeasures)
	}
	for _, v := range append(m.weights[:], m.Bias, m.Open, m.Further) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return c, fmt.Errorf("read calibration: %v is no number", v)
		}
	}
	if m.Further > m.Open {
		return c, fmt.Errorf("read calibration: further records need more (%v) than the first (%v)", m.Further, m.Open)
	}
	return c, nil
}

// Calibrated is the calibration in the program.
func Calibrated() Calibration { return calibrated }

// A file that is compiled in and that a test reads cannot be wrong.
var calibrated = func() Calibration {
	c, err := ReadCalibration(calibrationFile)
	if err != nil {
		panic(err)
	}
	return c
}()
