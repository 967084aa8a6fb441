// Package mode says what an observer looks for and how it is asked.
//
// Its nouns: a mode is a set of observation types and concepts with their
// definitions and the wording that goes with them; it is a JSON file, built in
// (code, research, writing) or the user's own, and may inherit from a parent. A
// prompt is what a model is sent: [System] opens a run and stays the same for all
// of it, [Observations] shows events, [Summary] asks for a turn's checkpoint,
// [Turn] does both, [Digest] opens a fresh run with what was stored before.
//
// Guarantees: text of foreign origin (tool calls and their outcomes, prompts,
// paths, stored records) is escaped, so that it can neither close an element of
// ours nor forge one; it is cut at characters, with a mark that says how much is
// missing. Every prompt is bounded whatever goes in: see the limits in event.go.
// The same input gives the same prompt. Prompts are Markdown files in prompts/,
// read as prose; no Go code speaks to a model.
//
// Place in the flow: the observer loads the mode of the settings, renders its
// prompts, hands them to a provider, and reads the answer with observer/answer,
// to which it gives the mode's types and concepts.
package mode
