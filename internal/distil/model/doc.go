// Package model asks language models over their HTTP APIs. Requests to models leave
// the machine here and in the claude subprocess (model/claude) only, so the limits
// on requests and answers are here.
//
// [New] returns a [Provider] for one vendor: the Messages API for anthropic, chat
// completions for openai, openrouter, gemini and ollama. A vendor is a row of a
// table (vendors.go) and a row of the conformance test. An [Endpoint] carries the
// requests; package embedder uses it for vectors.
//
// Every failure is a [*memory.ModelError] with the class that decides what the
// queue does (classify.go), except that a context that has ended returns its own
// error. Errors contain neither a key nor a URL.
//
// Retry, rate limit and ledger are decorators over Provider. From the outside in:
// Retry, Limit, Booked, the vendor. So each attempt takes its own slot of the rate
// limit and its own row of the ledger, and a cap is noticed before anything is
// sent. A decorator forwards EndRun and Close to the provider below.
//
// Guarantees: no request above [MaxRequestBytes] leaves; no answer above 4 MB is
// read; no redirect is followed (it would take the key along); nothing is read from
// the environment but the usual proxy variables; a vendor's provider does not retry;
// a call ends when its context or its own time limit does.
package model
