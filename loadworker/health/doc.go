// Package health measures how the worker itself fares, since a generator that is
// held back measures itself instead of the target: processor time used, time that
// the control group held it back, pauses of the garbage collector; and how many
// descriptors, ports and bytes of memory it may use, since one that is killed
// measures nothing.
//
// A Sample is what the system says at an instant; two of them make a
// measure.Health. Limits are read once. What is read from files is parsed by pure
// functions.
//
// It imports package measure, and nothing else of ours.
package health
