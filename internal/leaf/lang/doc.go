// Package lang knows the words by which people say things: that something is done, why, what is
// next, what shall always be so. A table for each language has cues, each of them a list of
// words and phrases; cues.txt describes their form and what each cue tells.
//
// Those who understand prose without a model ask it ([Has], [Is], [Begins], [Cut]): what a record
// is made of, what a prompt is about, which time a query means. It knows no grammar and decides
// nothing. The tables are parsed when they are first asked, so that a program pays for them only
// where it reads prose.
package lang
