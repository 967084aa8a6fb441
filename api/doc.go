// Package api is the memory as everything outside the pipeline asks it: commands,
// the HTTP routes and the MCP server.
//
// [Memory] is the one interface. [Local] implements it over an open store and
// index, without JSON; [Remote] implements it by asking a running worker over its
// socket. The types of requests and answers are here with their JSON tags, and
// their names are those of the HTTP API: httpapi decodes a request, calls Memory
// and encodes the answer. A new field of a record is one line in its type and one
// in the function that fills it.
//
// A request is a struct whose fields name their parameters (the tag param). The
// table of parameters says how each is written, checked and explained; help, the
// OpenAPI document, [Params] and Remote all read that table.
package api
