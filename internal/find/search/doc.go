// Package search answers queries: it reads what a text means, lets the strict
// filter decide which records are eligible and the ranking in which order they
// come, and explains each score.
//
// A [Searcher] stands between [Records], the memory itself, and [Index], which
// ranks. A request goes one of four ways:
//
//   - no text: the strict filter alone, the newest first (or the oldest);
//   - a text and no filter: the ranking;
//   - a text and a filter: the filter decides which records there are, the ranking
//     the order; the eligible records that the ranking does not know follow by date;
//   - a text that is a filter in words ("what bugs did we fix last week"): it is
//     read first, and then one of the above. [memory.Understood] shows how.
//
// What it guarantees:
//
//   - What does not pass the request's filter is never found. A filter that was only
//     read out of the text gives way, with a note, when it leaves nothing.
//   - The pages of one request neither overlap nor lose a hit while nothing is
//     remembered or forgotten in between; ties are broken by time, kind and number.
//     A ranking holds at most [RankedPool] records.
//   - An explanation adds up to its score exactly.
//   - No text is an error, and none costs more than [MaxText] bytes of one.
//
// It is asked by httpapi and the commands: store, index → search → httpapi.
package search
