// Package mcpserver gives agents the memory as tools of the Model Context Protocol:
// on standard input and output for one client (ServeStdio), and as streamable HTTP
// for any number (Handler).
//
// A tool parses its arguments, asks api.Memory and formats an answer for agents: index
// lines first, each with the tokens of the whole record, then how many more there are
// and the next step; whole records only on request. Dates, projects, filters and
// errors mean what they mean in the HTTP API.
//
// Guarantees:
//   - an answer has at most 2,500 tokens (maxTokens), and so has its structured content;
//     records that do not fit are counted, with the call that returns them;
//   - records are framed as history, without control characters and without anything
//     that could close the frame: they are data, not instructions;
//   - an argument of the wrong type or size is an error with a code, a message and a
//     hint; a panic in a tool is an error answer, and the server goes on;
//   - records shown in full are noted as looked up by the client's session;
//   - the definitions of all tools cost at most 1,500 tokens.
//
// The texts that a model reads are the descriptions in tools, instructions.md, and the
// arguments in tools.go: parameters of package api with a description of few words, from
// which the schemas are made.
package mcpserver
