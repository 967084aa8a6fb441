// Package answer reads what a model wrote when it was asked for observations.
//
// Its nouns: a token is a tag that we know (see names.go), a comment or a CDATA
// section; everything else, `Map<K,V>` and HTML included, is text. A record is
// an observation, summary or learning as it stood in the answer; a value is what
// becomes of a record's field once it is decoded, cleaned, mapped and cut.
//
// The answer is asked for as XML, and models get XML wrong: they forget closing
// tags, put Markdown fences, remarks and thoughts around it, escape too much or
// nothing, write lists as JSON or with bullets, answer in JSON, or are cut off in
// the middle. No XML reader accepts that, so the scanner is written by hand and
// takes what can be understood: the reader of a memory is better served by an
// observation without its subtitle than by none.
//
// Guarantees: [Parse] never fails and never panics. Time and memory are linear in
// the text, of which at most Options.MaxBytes are read. Every string that comes
// out is valid UTF-8 without control characters and no longer than the limits in
// value.go; every list is bounded. What comes out goes through [Render] and
// [Parse] again unchanged.
//
// Place in the flow: the observer hands in a provider's text and stores what
// comes out. An answer of class [ClassProse] may be a provider's error in words;
// telling that is the observer's business.
package answer
