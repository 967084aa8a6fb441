// Package mcpserver gives agents the memory as tools of the Model Context Protocol:
// on standard input and output for one client (ServeStdio), and as streamable HTTP
// for any number (Handler).
//
// A tool reads its arguments, asks the HTTP API (API: the worker's, or over the files
// when there is no worker) and writes the answer that an agent can use: index lines
// first, each with what the whole record costs, then how many more there are and the
// next step; whole records only when they are asked for. So dates, projects, filters
// and errors mean here what they mean everywhere.
//
// Guarantees:
//   - an answer has at most 2,500 tokens (maxTokens), its structured content too; what
//     does not fit is counted, with the call that gets it;
//   - what was remembered is framed as history and cleaned of control characters and of
//     everything that could close the frame: it is data, whatever it says;
//   - arguments of the wrong type, absurd size or unknown name cost the client an error
//     with a code, a message and a hint, never the server its life; a fault in a tool
//     is an error answer;
//   - records that were shown in full are noted as looked up by the client's session;
//   - the definitions of all tools cost at most 1,500 tokens.
//
// The texts that a model reads, descriptions and instructions, are the files in
// tools and instructions.md; the schemas are written by hand beside them.
package mcpserver
