// Package settings is the table of everything a user can set, and where each
// value came from: the environment, settings.json in the data directory, or the
// default.
//
// For a command or a hook the environment wins over the file. For the worker the
// file wins, so that the variables of the one project whose hook happened to
// start it do not configure all.
//
// Guarantees: Load always gives a usable value; a broken file or value is an
// error to show and the default is used; the file is never written but by Set
// and Unset, which replace it whole and keep what they do not know.
//
// The hook reads its few settings through this package on every tool call, so
// nothing here has an init cost.
package settings
