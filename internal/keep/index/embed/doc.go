// Package embed has the built-in vectors: a table with one vector for each word
// or piece of a word, compiled into the binary. A text's vector is the sum of its
// pieces' vectors, scaled to length 1; likeness is the dot product. Nothing is
// downloaded and no network runs, so it is there from the first start on.
//
// The table was trained for this project on text under permissive licences
// (NOTICE names what has to be named): on pairs such as a commit's subject and
// body, a heading and its section, a word and its definition. Frequent words
// count less already, by the lengths of their vectors. It knows English and code;
// other scripts give no pieces, and a text without pieces has a vector of zeros.
//
// [Builtin] opens it. The vectors stay where they are, as int8 in the binary, so
// that an open table costs half a megabyte. A Table is safe for concurrent use.
package embed
