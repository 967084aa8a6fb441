// Package text cleans and shortens foreign text: what models, tools, web pages and
// other programs said, on its way to a model, a terminal or a list.
//
// Plain and PlainLines are for text that a model reads within a frame of ours,
// TerminalLine and Terminal for text that a person reads in a terminal. Blocks and Spans
// take Markdown apart for whoever shows it, Prose makes statements of it. Functions that
// shorten say in their names what they count: bytes, runes or UTF-16 units.
// They never split a character. Invalid UTF-8 is dropped where text is cleaned.
package text
