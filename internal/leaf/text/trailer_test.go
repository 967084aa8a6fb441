package text

import "testing"

func TestIsTrailer(t *testing.T) {
	for line, want := range map[string]bool{
		"Signed-off-by: Ada <ada@example.org>":          true,
		"Co-Authored-By: Ada <ada@example.org>":         true,
		"  Reviewed-on: https://review.example.org/12 ": true,
		"Change-Id: I0123456789abcdef":                  true,
		"Reported-at: https://list.example.org/1":       true,
		"Amp-Thread-ID: https://example.org/threads/T1": true,
		"Made-with: an editor":                          true,
		"Cc: ada@example.org":                           true,
		"🤖 Generated with an agent":                     true,
		"OVS-DPDK: change the default of socket-mem":    false,
		"System-tests: make the icmp test reliable":     false,
		"Drop-in: units are read again":                 false,
		"fix: sign off by hand":                         false,
		"Sign-in by: passkey":                           false,
		"Signed-off-by:":                                false,
		"Log on: it failed":                             false,
		"":                                              false,
	} {
		if got := IsTrailer(line); got != want {
			t.Errorf("%q: got %t, want %t", line, got, want)
		}
	}
}
