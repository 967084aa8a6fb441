// Package embedder asks an embedding server over the OpenAI-compatible
// /v1/embeddings for vectors: OpenAI itself, Ollama, llama.cpp, vLLM and the
// many others that speak it. It is for people who have such a server and want
// its vectors instead of the built-in ones; the index works the same without.
//
// [New] makes a [Client] of the settings; it sends nothing. Embed sends at most
// 64 texts a request, each cut to a length that small models take, and returns
// vectors of length 1. A text without words has a vector of zeros, and so has a
// text that the server refuses though it takes others: the keywords still find it.
//
// What goes wrong is a [claudemem.CodeUnavailable] whose cause is a [*Pause]: until
// the time that it names, the client answers at once and sends nothing. The pause
// grows with each failure and is the server's own Retry-After when it gives one.
// Only the end of a context by its owner is returned as it is.
//
// Guarantees: neither the key nor a URL is in an error or a log; no redirect is
// followed (it would take the key along); no answer above 32 MB is read; nothing
// is read from the environment but the usual proxy variables. A Client is safe
// for concurrent use.
package embedder
