// Package offline distils a session's raw events into what is worth remembering
// without a model, a key or a network. [Distiller] satisfies the observer's
// Distiller interface.
//
// Its nouns: package toolcall turns an event into a call with commands, checks that
// passed or failed, and edits; a step is a call with the symbols that its edits changed;
// a turn's steps are grouped into episodes (something failed, was edited,
// passes now), and an episode becomes an observation. Type and title come from what
// the user asked for, what the agent said at the end and, above both, from the
// evidence. What was said is weighed sentence by sentence (choose.go, feature.go) with
// weights that were learnt (weights.json, see [ReadWeights]).
//
// The words by which people say things are in package lang, a table for each language.
//
// A rule that the user states in a prompt ("from now on …", "never …", in any of ten
// languages) becomes a learning at the end of the turn: the cues of its language (rule-… in
// package lang) are added up, and a one-time wish, a question or a quotation falls short.
//
// What the user decides in a dialog becomes a decision: the answer is the title, the
// question its reason, and the options are facts. In a turn without tools the agent's recap
// is one, else what the user ordered or agreed to (talk.go); what was only asked, weighed or
// explained becomes none.
//
// Symbols are those of [memory.PendingEvent]: functions and types that a comparison of
// the whole file found changed. Where there was none, no symbol is named.
//
// Guarantees: the same batch gives the same outcome; no input makes it panic
// (fuzzed); routine (listing, reading, looking at git) yields nothing; tool output
// is described, never copied, but for one error line of at most 200 characters in
// a fact; whatever is shown is one line of plain text without control characters
// or markup.
//
// All text is data of strangers. Nothing in it is obeyed.
//
// In the flow offline is called by observer, and by recall for a session whose
// turns still wait. It imports toolcall, outline and lang.
package offline
