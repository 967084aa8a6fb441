package intake

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	in := New(nil, Options{})
	tests := []struct{ name, text, want string }{
		{"plain", "Amounts are whole cents.", "Amounts are whole cents."},
		{"private", "The port is 3000.<private> Ada pays.</private>", "The port is 3000."},
		{"open", "The port is 3000. <private> Ada pays.", "The port is 3000."},
		{"open, in XML", "The port is 3000. &lt;private&gt; Ada pays.", "The port is 3000."},
		{"open, of full width", "The port is 3000. ＜private＞ Ada pays.", "The port is 3000."},
		{"open, with a no-break space", "The port is 3000. <\u00a0private> Ada pays.", "The port is 3000."},
		{"open, with an invisible character", "The port is 3000. <pri\u200bvate> Ada pays.", "The port is 3000."},
		{"wholly private", "<private>all of it</private>", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.TrimSpace(in.Text(tt.text)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	const secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
	if got := in.Text("Deploys use " + secret + "."); strings.Contains(got, secret) || !strings.Contains(got, "[redacted:") {
		t.Errorf("got %q", got)
	}
	if got := in.Text(strings.Repeat("long ", 1<<16)); len(got) > maxText+200 {
		t.Errorf("%d bytes are left", len(got))
	}
}
