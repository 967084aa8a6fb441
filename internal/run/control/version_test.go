package control

import "testing"

func TestNewer(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"0.1.0", "0.1.0", false},
		{"0.1.1", "0.1.0", true},
		{"0.1.0", "0.1.1", false},
		{"0.10.0", "0.9.9", true},
		{"1.0", "0.99.99", true},
		{"v1.0.0", "1.0.0", false},
		{"1.0.0", "1.0.0-rc.1", true},
		{"1.0.0-rc.1", "1.0.0", false},
		{"1.0.0-rc.2", "1.0.0-rc.1", true},
		{"1.0.0+build5", "1.0.0", false},
		{"0.0.1", "dev", true},
		{"dev", "0.0.1", false},
		{"dev", "dev", false},
		{"", "", false},
		{"1.0.0-rc.10", "1.0.0-rc.9", true},
		{"1.0.0-rc.9", "1.0.0-rc.10", false},
		{"1.0.0-rc", "1.0.0-9", true},
		{"1.0.0-rc.1", "1.0.0-rc", true},
		{"0.1.0-dev.20261122054029+6363387", "0.1.0-dev", true},
		{"0.1.0-dev.20261122054030+1", "0.1.0-dev.20261122054029+2", true},
		{"0.1.0-dev.20261122054029+6363387", "0.1.0-dev.20261122054029+6363387-dirty", false},
		{"0.1.0", "0.1.0-dev.20261122054029", true},
		{"0.1.0-dev", "6363387", true},
		{"6363387", "0.1.0-dev", false},
		{"6363387", "4d8af7d", false},
		{"1.2.3.4", "1.2.3", false},
		{"1.-2.3", "0.1.0", false},
	}
	for _, tt := range tests {
		if got := Newer(tt.a, tt.b); got != tt.want {
			t.Errorf("Newer(%q, %q) = %t, want %t", tt.a, tt.b, got, tt.want)
		}
	}
}
