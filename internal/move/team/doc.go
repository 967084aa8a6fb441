// Package team shares records of a memory with the people of a team, by a PostgreSQL that they run.
// docs/teams.md describes the server's schema, and what leaves this machine.
//
// Nouns: a member is a person's role on the server; a holder is a member who shares a record, others may edit it; each of them
// has a row of the record with a memory.Shared of what is that member's own. The cursor is the number of the last
// row that was pulled.
//
// Guarantees: what is pushed and pulled is idempotent and can be broken off at any moment. What comes from the server is foreign:
// sizes are bounded, a member speaks in no other's name, texts are redacted again. Nothing local waits for the server.
//
// Place in the flow: daemon calls Sync and Listen, in the worker or in a command; store/care notes edits and merges.
package team
