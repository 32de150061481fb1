package main

import (
	"os"
	"strings"
	"unicode/utf8"
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
	_, _ = file.WriteString(oneLine(err.Error(), maxLastWords))
	_ = file.Close()
}

// oneLine is a text without line breaks, of at most n bytes.
func oneLine(text string, n int) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "\uFFFD")
	if len(text) <= n {
		return text
	}
	const mark = "…"
	end := n - len(mark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
