// Package mode defines what an observer records and the prompts that ask for it.
//
// Its nouns: a mode is a set of observation types and concepts with their
// definitions and wording; it is a JSON file, built in (code, research, writing) or
// the user's own, and may inherit from a parent. A prompt is a text for a model: [System]
// opens a run and is the same for all sessions of a mode, [Session] says what is known of
// one, [Digest] opens a new run with the records so far. A [View] shows the session in a
// request: [View.Observations] a part of a turn, [View.Turn] its end with the agent's
// closing message.
//
// An edit is shown as a patch, a reading as the file's path, its lines and what it
// declares, a routine command in one line; paths are relative.
//
// Guarantees: foreign text can neither close an element of ours nor forge one. Calls,
// outcomes, requests and closing messages stand as they are between delimiters with a
// mark that is random for each request; names, paths outside of them and stored records
// are escaped. Text is shortened at characters, with a mark that gives the number of
// missing bytes. Every prompt is bounded whatever goes in: see the limits in event.go. The
// same input gives the same prompt. Prompts are Markdown files in prompts/, reviewed
// as prose.
//
// Place in the flow: the observer loads the mode of the settings, renders its
// prompts, passes them to a provider, and parses the answer with observer/answer,
// which gets the mode's types and concepts.
package mode
