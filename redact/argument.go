package redact

import "strings"

// minCookie is the length of the shortest value of a cookie that is masked, in bytes.
const minCookie = 16

// EachArgument calls visit with the bounds and the rule of each secret that belongs to the
// command, option or header s[start:end], which tells by itself that one follows, or that
// one is piped into it: chpasswd, --password-stdin, htpasswd -b, add_user, Cookie. The
// worker looks for those words; the hook does not link this.
func EachArgument(s string, start, end int, visit func(start, end int, rule string)) {
	var found span
	ok := false
	switch word := strings.ToLower(s[start:end]); word {
	case "cookie:":
		eachCookie(s, end, visit)
	case "chpasswd":
		found, ok = pipedSecret(s, start, true)
	case "-stdin", "sudo -s ":
		found, ok = pipedSecret(s, start, false)
	case "passwd -":
		options := wordAt(s, end-1)
		switch {
		case !endsInOne(s[:start], "ht", "_") || strings.IndexByte(options, 'b') < 0:
		case strings.IndexByte(options, 'n') >= 0:
			found, ok = argument(s, end-1, 2)
		default:
			found, ok = argument(s, end-1, 3)
		}
	case "/user:", "wpa_passphrase ":
		found, ok = argument(s, end, 2)
	default: // of rabbitmqctl
		if strings.HasSuffix(s[:start], "ctl ") {
			found, ok = argument(s, end, 2)
		}
	}
	if ok {
		visit(found.start, found.end, found.rule)
	}
}

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
		for i < limit && oneOf(s[i], " \"'") {
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
