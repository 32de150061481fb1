// Package command is the command line of kubectl loadtest: its flags, its talk
// with the API server, its exit codes.
//
//	run     bundle.go → create → follow.go → report
//	rerun       get → create → follow.go → report
//	watch                      follow.go → report
//	report               get → report
//	cancel                 get → spec.terminate
//	init                      draft
//	list                   get → overview
//	ui           ui.go, ui_cluster.go → package ui; run --ui, try --ui: ui_live.go
//	run --local  localmanifest.go → localcommand → report
//	try          the same, of a sample, beside a system of serve
//	plan, validate  document → admission → preview
//
// What a LoadTest says is read in package report and package progress; nothing
// is judged here, the operator has done that.
package command
