// Package mode defines what an observer records and the prompts that ask for it.
//
// Its nouns: a mode is a set of observation types and concepts with their
// definitions and wording; it is a JSON file, built in (code, research, writing) or
// the user's own, and may inherit from a parent. A prompt is a text for a model:
// [System] opens a run and stays the same for all of it, [Observations] shows
// events, [Summary] asks for a turn's checkpoint, [Turn] does both, [Digest] opens a
// new run with the records so far.
//
// Guarantees: foreign text (tool calls and their outcomes, prompts, paths, stored
// records) is escaped, so that it can neither close an element of ours nor forge
// one; it is shortened at characters, with a mark that gives the number of missing
// bytes. Every prompt is bounded whatever goes in: see the limits in event.go. The
// same input gives the same prompt. Prompts are Markdown files in prompts/, reviewed
// as prose.
//
// Place in the flow: the observer loads the mode of the settings, renders its
// prompts, passes them to a provider, and parses the answer with observer/answer,
// which gets the mode's types and concepts.
package mode
