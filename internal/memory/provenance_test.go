package memory_test

import (
	"testing"

	"claudemem/internal/memory"
)

func TestLeastTrusted(t *testing.T) {
	for _, tt := range []struct {
		all  []memory.Provenance
		want memory.Provenance
	}{
		{nil, ""},
		{[]memory.Provenance{memory.FromUser}, memory.FromUser},
		{[]memory.Provenance{memory.FromProject, memory.FromAgent, memory.FromUser}, memory.FromProject},
		{[]memory.Provenance{memory.FromProject, ""}, ""},
		{[]memory.Provenance{"", memory.FromOutside, memory.FromProject}, memory.FromOutside},
		{[]memory.Provenance{memory.FromWeb, memory.FromMCP, memory.FromOutside}, memory.FromWeb},
	} {
		if got := memory.LeastTrusted(tt.all...); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.all, got, tt.want)
		}
	}
}

func TestMostTrusted(t *testing.T) {
	for _, tt := range []struct{ a, b, want memory.Provenance }{
		{memory.FromAgent, memory.FromUser, memory.FromUser}, {memory.FromUser, memory.FromAgent, memory.FromUser},
		{"", memory.FromProject, memory.FromProject}, {"", memory.FromWeb, ""},
	} {
		if got := memory.MostTrusted(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestForeign(t *testing.T) {
	for _, p := range []memory.Provenance{memory.FromOutside, memory.FromMCP, memory.FromWeb} {
		if !p.Foreign() {
			t.Errorf("%q is not foreign", p)
		}
	}
	for _, p := range []memory.Provenance{"", memory.FromUser, memory.FromAgent, memory.FromProject} {
		if p.Foreign() {
			t.Errorf("%q is foreign", p)
		}
	}
}
