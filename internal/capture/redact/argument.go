package redact

import "strings"

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
func secretToldBy(s string, start, end int, form string) (found span, ok bool) {
	switch how := form[1]; how {
	case '|', ':':
		found, ok = pipedSecret(s, start, how == ':')
	case 'h':
		options := wordAt(s, end-1)
		n := 3
		if strings.IndexByte(options, 'n') >= 0 {
			n = 2
		}
		found, ok = argument(s, end-1, n)
		ok = ok && strings.IndexByte(options, 'b') >= 0
	case '/':
		if found, ok = argument(s, end, 1); ok {
			slash, at := strings.IndexByte(s[found.start:found.end], '/'), strings.IndexByte(s[found.start:found.end], '@')
			found.start, found.end, ok = found.start+slash+1, found.start+at, slash >= 0 && at > slash+3
		}
	case 'c':
		eachCookie(s, end, func(from, to int, rule string) {
			if !ok {
				found, ok = span{from, to, rule}, true
			}
		})
	default:
		if form[0] == '!' && end < len(s) && s[end] == '-' {
			return span{}, false
		}
		found, ok = argument(s, end, int(how-'0'))
	}
	if ok && form[0] == '!' {
		v := s[found.start:found.end]
		ok = len(v) >= 8 && !wordy(v) && strings.IndexByte(v, '/') < 0
	}
	return found, ok
}

// EachCookie calls visit with the bounds and the rule of each value in the header of
// cookies that begins before i. The scanner returns the first only.
func EachCookie(s string, i int, visit func(start, end int, rule string)) { eachCookie(s, i, visit) }

// eachCookie calls visit with each value in the header of cookies that begins before i,
// unless it reads like words.
func eachCookie(s string, i int, visit func(start, end int, rule string)) {
	end := lineEnd(s, i)
	for at := i; at < end; at++ {
		if s[at] != '=' {
			continue
		}
		stop := bareEnd(s, at+1, end, cookieStops)
		if v := s[at+1 : stop]; len(v) >= minCookie && !wordy(v) && !placeholder(v) && !pathLike(v) {
			visit(at+1, stop, ruleCookie)
		}
		at = max(at, stop-1)
	}
}

// argument returns the nth argument of a command behind position i that is no option;
// false if it does not have so many in the line, or if that is no password.
func argument(s string, i, n int) (span, bool) {
	limit := min(len(s), i+maxCommand)
	for i < limit {
		for i < limit && oneOf(s[i], " \"'\\=(") {
			i++
		}
		end := bareEnd(s, i, limit, curlStops)
		if end == i {
			break
		}
		if s[i] != '-' {
			n--
		}
		if v := s[i:end]; n == 0 {
			return span{i, end, rulePassword}, len(v) >= 3 && !placeholder(v) && v[0] != '/' && v[0] != '&' && !readable(v)
		}
		i = end
	}
	return span{}, false
}

// pipedSecret returns what echo or printf writes into the program at i; false for none.
// With users, it is the password of user:password.
func pipedSecret(s string, i int, users bool) (span, bool) {
	low := max(0, i-maxCommand)
	end := low + strings.LastIndexByte(s[low:i], '|')
	if end < low || strings.ContainsAny(s[end:i], ";&\n") {
		return span{}, false
	}
	start := strings.LastIndex(s[low:end], "echo ")
	if n := strings.LastIndex(s[low:end], "printf "); n > start {
		start = n + len("printf ") - len("echo ")
	}
	if start < 0 {
		return span{}, false
	}
	start += low + len("echo ")
	for word := start; word < end; { // the last word
		for word < end && oneOf(s[word], " \"'\\") {
			word++
		}
		if word < end {
			start = word
		}
		word = max(word+1, bareEnd(s, word, end, settingStops)) // a stop is passed, too
	}
	for end > start && oneOf(s[end-1], " \"'\\") {
		end--
	}
	end = bareEnd(s, start, end, settingStops)
	if users {
		n := strings.IndexByte(s[start:end], ':')
		if n < 0 {
			return span{}, false
		}
		start += n + 1
	}
	v := s[start:end]
	return span{start, end, rulePassword}, len(v) >= 3 && !placeholder(v)
}

// ruleCookie names the value of a cookie.
const ruleCookie = "cookie"
