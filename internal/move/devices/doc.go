// Package devices keeps one memory on all machines of one person, by a folder that something else
// synchronises. docs/devices.md describes the folder's files.
//
// Nouns: the secret of an epoch is what all devices have in common, 256 random bits that people type as
// 24 words; a device has a key of its own, by which it signs; a file has states of records, and is written
// once; the vector of a device says which files of the others it has taken in.
//
// Guarantees: nothing in the folder can be read or forged without the secret, and no device can write in
// another's name. A file is taken in whole or not at all, in any order and however often it comes. What is in the folder
// is foreign: sizes are bounded, no path of a file is followed, texts are redacted again. Nothing local waits for it.
//
// Place in the flow: git.go moves the files between the folder and a remote, around a Sync. daemon calls Sync, in the worker or in a command; store/care notes edits and merges.
package devices
