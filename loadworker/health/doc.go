// Package health measures the worker itself. A generator that is held back measures
// itself instead of the target: a Probe reads processor time, throttling by the
// control group, waits for a processor and pauses of the garbage collector. A generator that is killed
// measures nothing: Limits are the descriptors, ports and memory that it may use.
//
//	Probe ── Sample, Sample ── Since ── measure.Health
//	SystemLimits ── Limits, read once
//
// The files of Linux are parsed by pure functions. The package imports measure, and
// nothing else of ours.
package health
