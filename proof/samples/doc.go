// Package samples makes samples of secrets, for tests: kinds of secret, the ways in which
// they are written, and texts that look like secrets and hold none.
//
// There are two lists of each: First and LookAlikes, which the rules were made with, and
// later.txt and lookalikes.txt, which were written down afterwards. What the rules do
// with the second says more about kinds that are in neither.
//
// Place in the flow: not linked into the product.
package samples
