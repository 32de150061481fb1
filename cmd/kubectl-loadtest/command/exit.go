package command

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Exit codes. With several LoadTests it is the highest.
const (
	codePassed       = 0
	codeFailed       = 1
	codeInconclusive = 2
	codeCanceled     = 3
	codeError        = 4
	// codeInterrupted is what shells say of a command that Ctrl-C ended.
	codeInterrupted = 130
)

// exitCodes is the part of the help that describes them.
const exitCodes = `Exit code:
  0    Passed: every threshold was kept
  1    Failed: the target breached a threshold
  2    Inconclusive: the result does not describe the target
  3    Canceled: the run was terminated
  4    Error: the run could not be carried out or followed to its end
  130  Ctrl-C: the command ended; the run goes on`

// verdictError ends a command with a verdict other than Passed. The report has
// said why.
type verdictError struct{ code int }

func (e verdictError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exit is nil for Passed.
func exit(code int) error {
	if code == codePassed {
		return nil
	}
	return verdictError{code}
}

func exitCode(v v1beta1.Verdict) int {
	switch v {
	case v1beta1.VerdictPassed:
		return codePassed
	case v1beta1.VerdictFailed:
		return codeFailed
	case v1beta1.VerdictInconclusive:
		return codeInconclusive
	case v1beta1.VerdictCanceled:
		return codeCanceled
	default:
		return codeError
	}
}
