// Package record keeps the results of experiments, a file each, so that a run of all of
// them can be interrupted and gone on with, and documents can be made from what was
// measured alone:
//
//	record.go       a result, as documents of YAML
//	store.go        the folder of results
//	environment.go  on what it was measured
//	figures.go      what documents and judgements read of it
package record
