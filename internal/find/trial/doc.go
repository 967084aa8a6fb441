// Package trial runs an experiment on the user's own sessions: a random share of them is given
// nothing, or a placebo, and what came of these is compared with the others.
//
// Its nouns: a trial is the experiment with its shares; an arm is what a session is given; an
// outcome is a number that a session ends with, such as its tool calls; an effect is the
// difference that the memory made to an outcome, with its interval.
//
// It guarantees that the arm of a session depends on nothing but the trial's secret and the
// session's name, and that an interval holds at all looks together: whoever looks after each
// session is no more often misled than who looks once.
package trial
