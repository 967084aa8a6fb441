// Package httpapi is the HTTP interface of the worker: the routes that hooks
// deliver to, and those that people, scripts and the viewer read from. The same
// handler serves a Unix socket and a TCP port on the loopback interface.
//
// What it guarantees:
//
//   - Only this machine's user gets in. Every request passes the guard first:
//     loopback peer, loopback Host (so that no foreign name can be pointed at
//     us), no foreign Origin, the same user or the token, JSON on writes.
//   - An ingestion route answers 202 only after the event is durable.
//   - Bodies are bounded, and so is the memory that large ones hold together; a
//     client that is slow or sends without end costs the others nothing.
//   - An error is {"error":{"code","message","hint"}} with the status that one
//     table gives its code.
//   - A handler sees the parameters that its route declares, checked, and no
//     others. Help and the OpenAPI document are made from the same table.
//
// It knows the rest of the worker through the small interfaces of Deps. It
// stands at both ends of the pipeline: hook → httpapi → intake, and
// recall → httpapi → hook.
package httpapi
