package tokens

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
)

// MaxCommand is how much of a command before an option is looked at, in bytes.
const MaxCommand = 200

// minCookie is the length of the shortest value of a cookie that is masked, in bytes.
const minCookie = 16

// secretToldBy returns the secret that the words s[start:end] tell of: of a command, an
// option, a protocol or a setting, as the form of their kind says; false for none. A form
// is '@' for any value that does not read like words, '!' for one of small and capital
// letters and digits only, as the words mean other things too, and then:
//
//	1 2 3  that argument behind the words
//	|      what is piped into the command
//	:      the password of user:password that is piped into it
//	h      the password of htpasswd -b
//	/      the password of user/password@host
//	c      the first value of a cookie header
func secretToldBy(s string, start, end int, form string) (found shapes.Span, ok bool) {
	switch how := form[1]; how {
	case '|', ':':
		found, ok = pipedSecret(s, start, how == ':')
	case 'h':
		options := shapes.WordAt(s, end-1) // with the dash that the words end with
		n := 3                             // file, user, password; with -n there is no file, without -b no password
		if strings.IndexByte(options, 'n') >= 0 {
			n = 2
		}
		found, ok = argument(s, end-1, n)
		ok = ok && strings.IndexByte(options, 'b') >= 0
	case '/':
		if found, ok = argument(s, end, 1); ok {
			slash, at := strings.IndexByte(s[found.Start:found.End], '/'), strings.IndexByte(s[found.Start:found.End], '@')
			found.Start, found.End, ok = found.Start+slash+1, found.Start+at, slash >= 0 && at > slash+3
		}
	case 'c':
		if cookies := Cookies(s, end); len(cookies) > 0 {
			found, ok = cookies[0], true
		}
	default:
		if form[0] == '!' && end < len(s) && s[end] == '-' { // an option follows: another command
			return shapes.Span{}, false
		}
		found, ok = argument(s, end, int(how-'0'))
	}
	if ok && form[0] == '!' {
		v := s[found.Start:found.End]
		ok = len(v) >= 8 && !shapes.Wordy(v) && strings.IndexByte(v, '/') < 0
	}
	return found, ok
}

// Cookies returns the values in the header of cookies that begins before i, up to the end of its
// line, but for those that are short or read like words.
func Cookies(s string, i int) (found []shapes.Span) {
	end := shapes.LineEnd(s, i)
	for at := i; at < end; at++ {
		if s[at] != '=' {
			continue
		}
		stop := shapes.BareEnd(s, at+1, end, shapes.CookieStops)
		if v := s[at+1 : stop]; len(v) >= minCookie && !shapes.Wordy(v) && !shapes.Placeholder(v) && !shapes.PathLike(v) {
			found = append(found, shapes.NewSpan(at+1, stop, ruleCookie))
		}
		at = max(at, stop-1)
	}
	return found
}

// argument returns the nth argument, from 1, of a command behind position i that is no option;
// false if it does not have so many in the line, within MaxCommand bytes, or if that is no password.
func argument(s string, i, n int) (shapes.Span, bool) {
	limit := min(len(s), i+MaxCommand)
	for i < limit {
		i = shapes.SkipTo(s[:limit], i, " \"'\\=(")
		end := shapes.BareEnd(s, i, limit, shapes.CurlStops)
		if end == i {
			break
		}
		if s[i] != '-' {
			n--
		}
		if v := s[i:end]; n == 0 {
			return shapes.NewSpan(i, end, RulePassword), len(v) >= 3 && !shapes.Placeholder(v) && v[0] != '/' && v[0] != '&' && !shapes.Readable(v)
		}
		i = end
	}
	return shapes.Span{}, false
}

// pipedSecret returns what echo or printf writes into the program at i; false for none.
// With users, it is the password of user:password.
func pipedSecret(s string, i int, users bool) (shapes.Span, bool) {
	low := max(0, i-MaxCommand)
	end := low + strings.LastIndexByte(s[low:i], '|')
	if end < low || strings.ContainsAny(s[end:i], ";&\n") {
		return shapes.Span{}, false
	}
	start := strings.LastIndex(s[low:end], "echo ")
	if n := strings.LastIndex(s[low:end], "printf "); n > start {
		start = n + len("printf ") - len("echo ") // as the length of "echo " is added below
	}
	if start < 0 {
		return shapes.Span{}, false
	}
	start += low + len("echo ")
	end = shapes.SkipBack(s, start, end, " \"'\\")
	start += strings.LastIndexAny(s[start:end], " \t\r\n\"'`") + 1 // the last word
	end = shapes.BareEnd(s, start, end, shapes.SettingStops)
	if users {
		n := strings.IndexByte(s[start:end], ':')
		if n < 0 {
			return shapes.Span{}, false
		}
		start += n + 1
	}
	v := s[start:end]
	return shapes.NewSpan(start, end, RulePassword), len(v) >= 3 && !shapes.Placeholder(v)
}

// ruleCookie names the value of a cookie.
const ruleCookie = "cookie"
