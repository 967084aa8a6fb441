// Package httpapi is the HTTP interface of the worker: routes that take events from
// hooks, and routes that read and change the memory for commands, scripts and MCP. The
// same handler serves a Unix socket and a TCP port on the loopback interface.
//
// Guarantees:
//
//   - Only the user of this machine has access. The guard checks every request first:
//     loopback address, loopback Host (against DNS rebinding), no foreign Origin, the
//     same user or the token, JSON on writes.
//   - A route that takes events answers 202 only after the event is durable.
//   - The size of a body is bounded, and so is the memory of all large ones; a slow
//     client does not delay others.
//   - An error is {"error":{"code","message","hint"}}; the status follows from the code
//     by one table.
//   - A request has the parameters that its route declares, checked. Help and the
//     OpenAPI document are made from the same routes.
//
// The rest of the worker is behind the small interfaces of Deps. Events flow from hook
// through httpapi to intake, context from recall through httpapi to hook.
package httpapi
