package claudemem_test

import (
	"testing"

	"claudemem"
)

func TestLeastTrusted(t *testing.T) {
	for _, tt := range []struct {
		all  []claudemem.Provenance
		want claudemem.Provenance
	}{
		{nil, ""},
		{[]claudemem.Provenance{claudemem.FromUser}, claudemem.FromUser},
		{[]claudemem.Provenance{claudemem.FromProject, claudemem.FromAgent, claudemem.FromUser}, claudemem.FromProject},
		{[]claudemem.Provenance{claudemem.FromProject, ""}, ""},
		{[]claudemem.Provenance{"", claudemem.FromOutside, claudemem.FromProject}, claudemem.FromOutside},
		{[]claudemem.Provenance{claudemem.FromWeb, claudemem.FromMCP, claudemem.FromOutside}, claudemem.FromWeb},
	} {
		if got := claudemem.LeastTrusted(tt.all...); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.all, got, tt.want)
		}
	}
}

func TestMostTrusted(t *testing.T) {
	for _, tt := range []struct{ a, b, want claudemem.Provenance }{
		{claudemem.FromAgent, claudemem.FromUser, claudemem.FromUser}, {claudemem.FromUser, claudemem.FromAgent, claudemem.FromUser},
		{"", claudemem.FromProject, claudemem.FromProject}, {"", claudemem.FromWeb, ""},
	} {
		if got := claudemem.MostTrusted(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestForeign(t *testing.T) {
	for _, p := range []claudemem.Provenance{claudemem.FromOutside, claudemem.FromMCP, claudemem.FromWeb} {
		if !p.Foreign() {
			t.Errorf("%q is not foreign", p)
		}
	}
	for _, p := range []claudemem.Provenance{"", claudemem.FromUser, claudemem.FromAgent, claudemem.FromProject} {
		if p.Foreign() {
			t.Errorf("%q is foreign", p)
		}
	}
}
