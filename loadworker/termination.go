package main

import (
	"os"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/text"
)

// terminationLog is the file that the kubelet reads when the container ends, and
// from which the operator says why.
type terminationLog string

// maxLastWords is how much of an error is written. The kubelet takes 4 KiB, but
// from all containers of a pod together not more than 12.
const maxLastWords = 1 << 10

// write writes an error in one line. It is best effort: outside of a pod there is
// no such file, and the error is in the log, too.
func (l terminationLog) write(err error) {
	file, openErr := os.OpenFile(string(l), os.O_WRONLY|os.O_TRUNC, 0)
	if openErr != nil {
		return
	}
	_, _ = file.WriteString(text.Truncate(strings.Join(strings.Fields(err.Error()), " "), maxLastWords))
	_ = file.Close()
}
