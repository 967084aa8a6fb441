// Package model asks language models over their HTTP APIs. It is the only code
// besides the offline extraction and the claude subprocess that an observer's
// words pass on their way out, so what may leave and what may come in is
// decided here.
//
// [New] makes a [Provider] for one vendor: the Messages API for anthropic,
// chat completions for openai, openrouter, gemini and ollama. A vendor is a row
// of a table (vendors.go) and a row of the conformance test.
//
// Whatever goes wrong comes back as one [claudemem.ModelError] with the class
// that tells the queue what to do (classify.go), except for a context that has
// ended: that is returned as it is. Neither a key nor a URL is in an error.
//
// Retry, rate limit and ledger are decorators over Provider. From the
// outside in: Retry, Limit, Ledger, the vendor. So each attempt takes its own
// slot of the rate limit and its own row of the ledger, and a cap is noticed
// before anything is sent. A decorator forwards EndRun and Close to what it wraps.
//
// Guarantees: no request above [MaxRequestBytes] leaves; no answer above
// 4 MB is read; no redirect is followed (it would take the key along); nothing
// is read from the environment but the usual proxy variables; a provider asks
// once, without retries; a call ends when its context or its own time limit does.
package model
