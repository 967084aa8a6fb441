package text

import (
	"slices"
	"strings"
	"testing"
)

func TestIdentifiers(t *testing.T) {
	for s, want := range map[string][]string{
		"": nil,
		"what does shutdownCalled protect against":                               {"shutdownCalled"},
		"ServerSession.Close() hangs, ServerSession":                             {"ServerSession"},
		"SQLITE_BUSY with execMu and busy_timeout":                               {"SQLITE_BUSY", "execMu", "busy_timeout"},
		"isOk toInt is_ok":                                                       nil,
		"port it to TypeScript on GitHub":                                        nil,
		"__init__ _x_ _________ 1_000_000 v1_2":                                  nil,
		"HTTPServer PARSER parser Parser":                                        nil,
		"\xff\xfe日本_語 größeÄnderung":                                             nil,
		"NullPointerException, TypeError or IOException of PaymentDeclinedError": {"PaymentDeclinedError"},
		"KEY_ERROR AcmeError parseError2":                                        {"AcmeError", "parseError2"},
		"`add_parallel_transfers`(*morep)":                                       {"add_parallel_transfers"},
	} {
		if got := Identifiers(s); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
	if got := Identifiers(strings.Repeat("aB_", 1<<20)); len(got) > 1 {
		t.Errorf("%d identifiers of one word", len(got))
	}
}
