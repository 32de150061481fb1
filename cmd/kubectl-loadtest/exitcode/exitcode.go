package exitcode

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Exit codes. With several LoadTests it is the highest.
const (
	Passed       = 0
	Failed       = 1
	Inconclusive = 2
	Canceled     = 3
	Error        = 4
	// Interrupted is what shells say of a command that Ctrl-C ended.
	Interrupted = 130
)

// Help is the part of the help that describes them.
const Help = verdicts + `
  3    Canceled: the run was terminated
  4    Error: the run could not be carried out or followed to its end
  130  Ctrl-C: the command ended; the run goes on`

// LocalHelp is the same of a run on this machine.
const LocalHelp = verdicts + `
  3    Canceled: Ctrl-C ended the run, and the report has what was measured until then
  4    Error: the run could not be carried out
  130  Ctrl-C a second time: the run ended at once, and its measurements are lost`

const verdicts = `Exit code:
  0    Passed: every threshold was kept
  1    Failed: the target breached a threshold
  2    Inconclusive: the result does not describe the target`

// Verdict ends a command with a verdict other than Passed. The report has
// said why.
type Verdict struct{ Code int }

func (e Verdict) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Result is nil for Passed.
func Result(code int) error {
	if code == Passed {
		return nil
	}
	return Verdict{code}
}

// Of is the exit code of a verdict; one that is not known is an error.
func Of(v v1beta1.Verdict) int {
	switch v {
	case v1beta1.VerdictPassed:
		return Passed
	case v1beta1.VerdictFailed:
		return Failed
	case v1beta1.VerdictInconclusive:
		return Inconclusive
	case v1beta1.VerdictCanceled:
		return Canceled
	default:
		return Error
	}
}
