// Package record keeps the results of experiments, a file each, so that a run of all of
// them can be interrupted and gone on with, and documents can be made from what was
// measured alone:
//
//	record.go       a result, as documents of YAML
//	store.go        the folder of results
//	environment.go  on what it was measured
//	rung.go         a step with its repetitions, and those in which the machine was the limit
//	figures.go      the figures of a step, and their spread over the repetitions
package record
