// Package corpus makes observations of coding work, with the prompts and summaries
// around them, and queries that look for them, as many as are asked for and
// always the same for a seed. Benchmarks and tests use it; no binary does.
//
// It is not a text to judge relevance by: sentences are filled-in patterns. What
// is lifelike is what the speed and the size of an index depend on: the length of
// the texts, how often frequent and rare words come (a vocabulary drawn by Zipf's
// law, shared by all; nouns, names and files of a project's own; numbers and
// hashes that come once), how projects differ in size, and how queries mix the
// frequent with the rare.
package corpus
