// Package answer parses what a model wrote when it was asked for observations.
//
// Its nouns: an element is a tag that the prompts ask for (see elements.go); everything
// else, `Map<K,V>` and HTML included, is text. A record is an observation, summary or
// learning as the answer has it, a map of fields to texts; a value is what remains of a
// field after decoding, cleaning, mapping and truncation.
//
// The prompt asks for XML, and models get XML wrong: they forget closing tags, put
// Markdown fences, remarks and thoughts around it, escape too much or nothing, write
// lists as JSON or with bullets, answer in JSON, or stop in the middle. No XML parser
// accepts that, so the reader is written by hand. Comments are removed first, and what is
// text in CDATA and inline code is marked as such. A field ends with its closing tag or,
// without one, where the next tag stands. JSON is read by encoding/json.
//
// Guarantees: [Parse] never panics. An answer in which it cannot be told what belongs to
// which field or record has no record at all and is [ClassProse]: the model is asked once
// more. What broke off at the end is left out, or is the end of a text of several
// sentences. Time and memory are linear in the text, of which at most Options.MaxBytes are
// parsed. Every string in the result is valid UTF-8 without control characters and no
// longer than the limits in value.go; every list is bounded. [Render] and [Parse] return a
// result unchanged.
//
// Place in the flow: the observer passes a provider's text in and stores the result.
// An answer of class [ClassProse] may be a provider's error in words, which the
// observer has to recognise.
package answer
