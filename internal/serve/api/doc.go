// Package api is the interface to the memory for everything outside the pipeline:
// commands, the HTTP routes and the MCP server.
//
// [Memory] is the one interface. [Local] implements it over an open store and
// index, without JSON. [Forward] implements it by passing each call on: [Remote] to
// a running worker over its socket, commands to the worker or to the files. The types
// of requests and answers are here with their JSON tags, and their names are those of
// the HTTP API. An [Endpoint] joins a method with its route: Forward and httpapi both
// use it. A new field of a record is one line in its type and one in the function that
// fills it.
//
// A request is a struct whose fields name their parameters (the tag param); fields
// without the tag are members of the body. The table of parameters says how each is
// parsed, checked and described; help, the OpenAPI document, [Parse] and Remote all
// use that table.
package api
