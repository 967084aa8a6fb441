// Package judge holds package redact to gitleaks' own detector: what the detector
// finds in generated samples of each of its rules, redact/rules masks.
//
// It is a module of its own, so that neither the product nor its go.sum knows
// gitleaks: run it with "make judge".
package judge
