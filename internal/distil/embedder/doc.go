// Package embedder asks an embedding server for vectors over the OpenAI-compatible
// /v1/embeddings: OpenAI itself, Ollama, llama.cpp, vLLM and many others. It is for
// people who have such a server and want its vectors instead of the built-in ones;
// the index works the same without.
//
// [New] returns a [Client] for the settings and sends nothing. Embed sends at most
// 64 texts a request, each shortened to a length that small models take, and
// returns vectors of length 1. A text without words has a vector of zeros, and so
// has a text that the server refuses although it accepts others: searches by words
// still find it.
//
// A failure is a [memory.CodeUnavailable] and begins a pause: until its end, the
// client returns the failure at once and sends nothing. The pause grows with each
// failure; the server's own Retry-After replaces it. A canceled context returns its
// own error.
//
// Guarantees: neither the key nor a URL is in an error or a log; no redirect is
// followed (it would take the key along); no answer above 32 MB is read; nothing is
// read from the environment but the usual proxy variables. A Client is safe for
// concurrent use.
package embedder
