package assign

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// Passwords of short options, and of settings whose neighbours tell what they are. A function that
// returns a span and false has found no secret: the span then means nothing.

// passwordOptions has a line for each short option that takes a password: the option, how
// the password stands behind it, and the beginnings of the programs' names. The form is
// '=' for -pX, ' ' for -p X, '*' for both, and otherwise the byte between user and
// password.
const passwordOptions = "" +
	"p*sshpass\n" +
	"p=mysql mariadb 7z rar unrar\n" +
	"p login mongo cqlsh cypher-shell rabbitmqadmin elasticsearch-users psexec evil-winrm nxc crackmapexec useradd usermod steghide\n" +
	"P*zip unzip sqlcmd bcp isql osql tsql mosq ipmitool ssh-keygen\n" +
	"N ssh-keygen\n" +
	"a redis-cli valkey-cli keydb-cli\n" +
	"w*ldap\n" +
	"k openssl\n" +
	"U%smb rpcclient net winexe\n" +
	"u,lftp\n"

// ShortOption returns the password behind a short option of a program known to take
// one; false for none. s[i] is the dash.
func ShortOption(s string, i int) (shapes.Span, bool) {
	if i == 0 || i+2 >= len(s) || !shapes.OneOf(s[i-1], " \t") || !shapes.OneOf(s[i+1], "pPNawkUu") {
		return shapes.Span{}, false
	}
	command := s[max(0, i-tokens.MaxCommand):i]
	if n := strings.LastIndexAny(command, "\n;|&"); n >= 0 {
		command = command[n+1:]
	}
	start := i + 2
	attached := s[start] != ' '
	form := optionForm(command, s[i+1])
	// -p of any other program that is given a user too; a port or a path behind it is no password.
	byUser := form == 0 && s[i+1] == 'p' && !attached && (strings.Contains(command, " -u ") || strings.Contains(command, " --user"))
	if byUser {
		form = ' '
	}
	if form == 0 || form == ' ' && attached || form == '=' && !attached {
		return shapes.Span{}, false
	}
	start = shapes.SkipTo(s, start, " \"'\\")
	stop := shapes.BareEnd(s, start, start+shapes.MaxValue, shapes.FlagStops)
	if form == '%' || form == ',' {
		stop = shapes.BareEnd(s, start, start+shapes.MaxValue, shapes.CurlStops)
		n := strings.IndexByte(s[start:stop], form)
		if n < 0 {
			return shapes.Span{}, false
		}
		start, attached = start+n+1, false
	}
	if v := s[start:stop]; len(v) < 3 || v[0] == '-' || shapes.Reference(v) || attached && shapes.IsLetter(v[0]) && startsOption(v) || byUser && (shapes.Readable(v) || strings.ContainsAny(v, ":/.") || shapes.Number(v)) {
		return shapes.Span{}, false
	}
	return shapes.NewSpan(start, stop, tokens.RulePassword), true
}

// startsOption reports whether what follows "-p" makes it a longer option: -port.
func startsOption(v string) bool {
	return strings.HasPrefix(v, "assword") || strings.HasPrefix(v, "ort") || strings.HasPrefix(v, "rotocol")
}

// optionForm returns the form (see passwordOptions) in which a short option of a command takes a
// password, if a word of the command begins like a program that has the option; 0 for none.
func optionForm(command string, option byte) byte {
	for line := range strings.Lines(passwordOptions) {
		if line[0] != option {
			continue
		}
		for word := range strings.SplitSeq(line[2:len(line)-1], " ") {
			if n := strings.Index(command, word); n == 0 || n > 0 && !shapes.IsAlnum(command[n-1]) {
				return line[1]
			}
		}
	}
	return 0
}

// inConnection reports whether a name behind before, the text up to it, belongs to a connection
// string, whose pairs end in ';': Server=db;User Id=sa;
func inConnection(before string) bool {
	before = strings.TrimRight(before[max(0, len(before)-maxBeside):], " ")
	return strings.HasSuffix(before, ";") && shapes.HasOne(strings.ToLower(before),
		"server=", "host=", "source=", "user id=", "uid=", "user=", "username=", "database=", "endpoint=")
}

// maxSection is how far a setting is from the head of its section, in bytes.
const maxSection = 512

// inSection reports whether the setting behind before is in a section of an INI file, the
// last line with brackets before it being "[name]" and no code between.
func inSection(before string) bool {
	before = before[max(0, len(before)-maxSection):]
	end := strings.LastIndexByte(before, ']')
	start := strings.LastIndexByte(before, '[')
	if start < 0 || end < start+2 || strings.ContainsAny(before[end:], "(){};") {
		return false
	}
	first := len(strings.TrimRight(before[:start], " \t"))
	if first > 0 && before[first-1] < 0x80 && !shapes.OneOf(before[first-1], "\n\"+-:") && (before[first-1] != 'n' || first < 2 || before[first-2] != '\\') {
		return false // the brackets do not start their line
	}
	for _, c := range []byte(before[start+1 : end]) {
		if !shapes.In(c, shapes.Ident) && !shapes.OneOf(c, " \"\\/:") {
			return false
		}
	}
	// The line must end behind the head: n and r count only as the letter of an escape.
	after := before[shapes.SkipBackslashes(before, end+1):]
	return after != "" && shapes.OneOf(after[0], "\r\nnr") && (after[0] < ' ' || after[0] != before[end+1])
}
