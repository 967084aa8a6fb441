// Package search answers queries: it reads what a text means, lets the strict
// filter decide which records are eligible and the ranking in which order they
// come, and explains each score.
package search
