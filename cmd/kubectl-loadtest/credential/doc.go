// Package credential says which headers carry one, by their names: their values are not
// written into what people keep or show.
//
//	name of a header ──▶ InHeader ──▶ draft, report/html
//
// It imports the standard library only.
package credential
