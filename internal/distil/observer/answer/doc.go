// Package answer parses what a model wrote when it was asked for observations.
//
// Its nouns: an element is a tag that the prompts ask for (see elements.go); everything
// else, `Map<K,V>` and HTML included, is text. A frame is an element that is open. A
// record is an observation, summary or learning as the answer has it; a value is a
// record's field after decoding, cleaning, mapping and truncation.
//
// The prompt asks for XML, and models get XML wrong: they forget closing tags, put
// Markdown fences, remarks and thoughts around it, escape too much or nothing, write
// lists as JSON or with bullets, answer in JSON, or stop in the middle. No XML parser
// accepts that, so the scanner is written by hand and uses what it can: an observation
// without its subtitle is better than none. Comments are removed first, and what is
// text in CDATA and inline code is marked as such. A field ends with its closing tag or,
// without one, where the next field of its record begins. JSON is read by encoding/json
// and written as the XML that was asked for.
//
// Guarantees: [Parse] never fails and never panics. Time and memory are linear in the
// text, of which at most Options.MaxBytes are parsed. Every string in the result is
// valid UTF-8 without control characters and no longer than the limits in value.go;
// every list is bounded. [Render] and [Parse] return a result unchanged.
//
// Place in the flow: the observer passes a provider's text in and stores the result.
// An answer of class [ClassProse] may be a provider's error in words, which the
// observer has to recognise.
package answer
