package gate

import (
	"bytes"
	_ "embed" // for the calibration
	"encoding/json"
	"fmt"
)

//go:embed calibration.json
var calibrationFile []byte

// Calibration has the weights and thresholds that were fitted to labelled data.
type Calibration struct {
	// Calibrated is the day of the fit, Source the data and the program.
	Calibrated string `json:"calibrated"`
	Source     string `json:"source"`
	// Prompt decides at a prompt, Work at one of a session at work (AtWork).
	Prompt Model `json:"prompt"`
	Work   Model `json:"work"`
}

// Model adds up measures.
type Model struct {
	Bias float64 `json:"bias"`
	// Weights are by the names of Measures, in Calibration.Work of WorkMeasures.
	Weights map[string]float64 `json:"weights"`
	// Open is the sum that the best record needs for anything to be given, Further
	// what the others need then.
	Open    float64 `json:"open"`
	Further float64 `json:"further"`

	weights []float64 // in the order of the names
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
	if err := c.Prompt.read(Measures()); err != nil {
		return c, fmt.Errorf("read calibration: model prompt: %w", err)
	}
	if err := c.Work.read(WorkMeasures()); err != nil {
		return c, fmt.Errorf("read calibration: model work: %w", err)
	}
	return c, nil
}

// read puts the weights in the order of their names and checks them.
func (m *Model) read(names []string) error {
	m.weights = make([]float64, len(names))
	for i, name := range names {
		w, ok := m.Weights[name]
		if !ok {
			return fmt.Errorf("no weight of %s", name)
		}
		m.weights[i] = w
	}
	if len(m.Weights) != len(names) {
		return fmt.Errorf("%d weights of %d measures", len(m.Weights), len(names))
	}
	if m.Further > m.Open {
		return fmt.Errorf("further records need more (%v) than the first (%v)", m.Further, m.Open)
	}
	return nil
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
