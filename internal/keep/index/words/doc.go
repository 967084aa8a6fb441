// Package words takes text apart into what is searched for: words in their
// stems, the parts of identifiers and paths, and CJK text as overlapping pairs.
// Documents ([Text], [Paths]) and queries ([Query]) go the same way, so that
// what is written alike is found alike.
//
// A plain word is lower-cased, loses its accents, and is cut to its English stem
// when it has only the letters a to z. An identifier (getUserByEmail,
// user_service.go, x86_64) gives one word for its whole, written without what
// joins it, and parts at the same position: what stands between its dots, its
// other joiners and its capitals. So user_service.go, UserService, user-service
// and userservice have the word "userservic" in common, and each but the last
// has the parts "user" and "servic". A query of plain neighbours (user service)
// looks for their joined form too, a verb before a particle by its stem (timed out,
// timeout). [Forms] has forms of a word with other stems. Version numbers stay whole:
// 1.2.3 also counts as 1.2, with or without a v.
//
// Scripts without spaces between words (Chinese, Japanese, Korean, Thai and a few
// more) give each pair of neighbouring characters; one that stands alone is a
// word. Everything else, emoji and control characters included, separates.
//
// Guarantees: words have letters, marks and digits only and at most 64 bytes;
// any input is read in linear time; [Hash] never changes.
package words
