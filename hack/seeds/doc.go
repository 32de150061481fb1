// Command seeds is what make seeds runs once a cluster is up and has the images: it runs
// the published experiments again, compares the outcome with what is expected of each,
// and, as make seeds-report, writes docs/results/seed-00N.md from what was measured.
//
//	main.go       flags, environment, last line, exit code
//	run.go        the experiments that have no result yet, one after another
//	target.go     an experiment: its target comes, its load tests run, it goes
//	progress.go   how long is left
//	experiment/   which experiments there are
//	manifest/     pure: what runs, and its scale
//	record/       results in files
//	expect/       pure: results → what was expected and what was found
//	document/     pure: published and own results → Markdown and SVG
//
// Results are kept under bin/seeds. An experiment whose result is there, and whose
// load tests, values and factor have not changed, does not run again; so make seeds can
// be interrupted, and goes on when it is run again. It uses helm, kubectl and
// kubectl-loadtest from the PATH, and the variables of hack/demo. With -report it runs
// nothing, and writes the documents alone; kubectl renders the overlays for that, too.
package main
