// Package repl is the part of grol's that fortio names.
package repl

import (
	"io"

	"grol.io/grol/eval"
)

// Options are those of a script's run.
type Options struct {
	ShowEval    bool
	PreInput    func(*eval.State)
	HistoryFile string
	MaxHistory  int
}

// Interactive refuses.
func Interactive(Options) int { return 1 }

// EvalAll refuses.
func EvalAll(*eval.State, io.Reader, io.Writer, Options) []string {
	return []string{"this fortio was built without its scripting language"}
}
