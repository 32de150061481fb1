package main

import (
	"os"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/text"
)

// terminationLog is the file that the kubelet reads when the container ends. The
// operator shows its text as the reason.
type terminationLog string

// maxTermination is how many bytes of an error are written. The kubelet reads 4 KiB
// of a container, and 12 KiB of all containers of a pod together.
const maxTermination = 1 << 10

// write writes an error in one line. It is best effort: outside of a pod the file
// does not exist, and the error is in the log, too.
func (l terminationLog) write(err error) {
	file, openErr := os.OpenFile(string(l), os.O_WRONLY|os.O_TRUNC, 0)
	if openErr != nil {
		return
	}
	_, _ = file.WriteString(text.Truncate(strings.Join(strings.Fields(err.Error()), " "), maxTermination))
	_ = file.Close()
}
