// Package opencode reads the sessions that OpenCode stores in its database as payloads that its plugin
// would have given the hook.
//
// [Unpack] writes a file of lines for each session, which package transcript reads like the files of
// other agents. Guarantees: nothing of OpenCode's is opened for writing, and no file appears beside it.
//
// Place in the flow: `claude-mem import` unpacks what it is given, if it is OpenCode's, then reads the files.
package opencode
