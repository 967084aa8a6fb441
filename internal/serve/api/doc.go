// Package api is the interface to the memory for everything outside the pipeline:
// commands, the HTTP routes and the MCP server.
//
// A [Memory] is a function that makes a [Call]; its methods are all calls that there are, each
// with its route in the HTTP API. [Local] makes a call on an open store and index, without JSON,
// [Remote] sends it to a running worker over its socket, and commands do either. httpapi asks
// [CallOf] for the route of a method. The types of requests and answers are here with their JSON
// tags, and their names are those of the HTTP API. A new field of a record is one line in its type
// and one in the function that fills it.
//
// A request is a struct whose fields name their parameters (the tag param); fields
// without the tag are members of the body. The table of parameters says how each is
// parsed, checked and described; help, the OpenAPI document, [Parse] and Remote all
// use that table.
package api
