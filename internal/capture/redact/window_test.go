package redact

import (
	"strings"
	"testing"

	"claudemem/internal/capture/redact/secrets"
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/leaf/jsonscan"
)

// TestSecretsAtWindowSeams moves secrets and tags over the places where a long string
// is cut, and checks that none of them makes cleanJSON call the string clean.
func TestSecretsAtWindowSeams(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	for _, line := range []string{"\tfor i := range parts { total += len(parts[i].Text) }\n", "значение равно нулю, \"строка\"\n"} {
		text := strings.Repeat(line, 3*windowSize/len(line))
		if raw := jsonscan.AppendQuote(nil, text); !cleanJSON(raw) {
			t.Fatalf("%q is not clean", line)
		}
		for _, secret := range []string{
			"password = \"hunter2-and-more\"\n", "<private>x</private>\n", "--password\nhunter2x9\n",
			"key: `" + strings.Repeat(" \n", 60) + "`\nAKIAIOSFODNN7EXAMPLE\n",
			"password = `hunter2\nand-more9`\n", "ghp_abcdefghijklmnopqrstuvwxyz0123456789\n",
		} {
			if raw := jsonscan.AppendQuote(nil, secret); cleanJSON(raw) {
				t.Fatalf("%q is clean", secret)
			}
			for at := windowSize - 4*windowOverlap; at < windowSize+400; at += 1009 {
				line := strings.LastIndexByte(text[:at], '\n') + 1
				if raw := jsonscan.AppendQuote(nil, text[:line]+secret+text[line:]); cleanJSON(raw) {
					t.Fatalf("%q at %d is not seen", secret, line)
				}
			}
		}
	}
}

// TestWindow checks that the windows of a string overlap and have all of it.
func TestWindow(t *testing.T) {
	for _, body := range []string{"", strings.Repeat("x", 3*windowSize), strings.Repeat(`x\\n`, windowSize), strings.Repeat(`some line\n`, windowSize/4), strings.Repeat(`\u00e9 line\n`, windowSize/4)} {
		end := 0
		for at, rest := 0, []byte(body); len(rest) > 0; {
			now, next := window(rest)
			if at > 0 && end-at < windowOverlap {
				t.Fatalf("%.20q: windows overlap by %d bytes", body, end-at)
			}
			end = at + len(now)
			if len(next) > 0 && !strings.HasSuffix(string(now), `\n`) {
				t.Fatalf("%.20q: a window ends within a line", body)
			}
			at, rest = len(body)-len(next), next
		}
		if end != len(body) {
			t.Errorf("%.20q: %d of %d bytes", body, end, len(body))
		}
	}
}

// TestMasksAtDecodedWindows checks that a mask which the window around an escape cuts in
// two is not masked again.
func TestMasksAtDecodedWindows(t *testing.T) {
	for _, secret := range []string{"mysql -phunter22", "curl -u bob:hunter22x9", "password=hunter22x9"} {
		for n := range secrets.EscapeContext + 100 {
			got, _ := secrets.Text(`\u003c` + strings.Repeat("a ", n/2) + strings.Repeat(" ", n%2) + secret)
			if strings.Count(got, shapes.MaskStart) != 1 || !strings.HasSuffix(got, "]") || strings.HasSuffix(got, "]]") {
				t.Errorf("%s, %d bytes behind an escape, becomes %q", secret, n, got[max(0, len(got)-80):])
			}
			if again, _ := secrets.Text(got); again != got {
				t.Errorf("not idempotent: %q", again[max(0, len(again)-80):])
			}
		}
	}
}
