// Package settings is the table of everything a user can set, and where each
// value came from: the environment, config.json in the data directory, or the
// default.
//
// For a command or a hook the environment wins over the file. For the worker the
// file wins, so that the variables of the one project whose hook happened to
// start it do not configure all.
//
// A broken config.json fails closed: its last good copy is in force or, without one, the
// Settings are Closed: hook and intake capture nothing, the worker calls no model. Each
// Load of a valid file renews the copy. Without a config.json, the restricting settings of
// the settings.json of earlier releases and of claude-mem for Node are in force.
//
// Guarantees: Load always returns usable settings; config.json is written only by Set,
// Unset and Import, which replace it whole and keep unknown keys, comments and layout;
// settings.json is never written.
//
// The hook reads its few settings through this package on every tool call, so
// nothing here has an init cost.
package settings
