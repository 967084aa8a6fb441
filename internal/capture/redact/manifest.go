package redact

import "strings"

const (
	// manifestReach is the maximum distance of "kind: Secret" from "data:",
	// manifestData the length of the data that is searched, manifestGap the maximum
	// distance between two values, in bytes.
	manifestReach = 2048
	manifestData  = 8 << 10
	manifestGap   = 128
	// minManifest is the length of the shortest value, in bytes.
	minManifest = 10
	// ruleManifest names a value of a Secret of Kubernetes.
	ruleManifest = "kubernetes-secret"
)

// queueManifest puts the values in the data of a Secret of Kubernetes into the queue. The
// ':' behind "data" is at i.
func (sc *scanner) queueManifest(s string, i int) {
	if i < sc.tableEnd {
		return
	}
	if name := wordBefore(s, i); !strings.EqualFold(name, "data") && name != "stringData" {
		return
	}
	if i >= sc.askedUntil {
		sc.askedUntil = i + manifestReach/4
		sc.inSecret = hasSecretKind(s[max(0, i-manifestReach):min(len(s), i+manifestReach)])
	}
	if !sc.inSecret {
		return
	}
	data := s[:min(len(s), i+manifestData)]
	last := i + 1
	for at := last; at < min(len(data), last+manifestGap); {
		// A key, ':', perhaps '|' or '>' and a line break, perhaps a quote, base64.
		key := runEnd(data, at, classIdent)
		if key == at || key == len(data) || data[key] != ':' && !strings.HasPrefix(data[key:], `":`) && !strings.HasPrefix(data[key:], `\":`) {
			if strings.HasPrefix(data[key:], MaskStart) {
				key += strings.IndexByte(data[key:]+"]", ']')
			}
			at = key + 1
			continue
		}
		start := key
		for start < len(data) && oneOf(data[start], " :|>+-\"'\\\r\n\t") {
			start++
			if data[start-1] == '\\' && start < len(data) && data[start] == 'n' {
				start++
			}
		}
		end := runEnd(data, start, classBase64)
		if at = end; end-start >= minManifest {
			sc.queue = append(sc.queue, span{start, end, ruleManifest})
			last, sc.tableEnd = end, end
		}
	}
}

// wordBefore is nameBefore without the letter of an escape (\nkind).
func wordBefore(s string, end int) string {
	start, name := nameBefore(s, end)
	if start > 0 && s[start-1] == '\\' && name != "" {
		return name[1:]
	}
	return name
}

// hasSecretKind reports whether a manifest says "kind: Secret".
func hasSecretKind(s string) bool {
	for at := 0; ; {
		n := strings.IndexByte(s[at:], ':')
		if n < 0 {
			return false
		}
		colon := at + n
		at = colon + 1
		if strings.EqualFold(wordBefore(s, colon), "kind") && strings.EqualFold(wordAt(s, at), "secret") {
			return true
		}
	}
}
