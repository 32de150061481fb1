package targetsfile

import (
	"bytes"
	"io"
)

// lines gives out a text line by line, so that the number of a line is known while a
// Targeter reads: it reads no further than it must. The text ends with a line break.
type lines struct {
	text []byte
	at   int
	line int // of what was read last, from 1
	// behind is the line that the last target began with.
	behind int
}

func (l *lines) Read(p []byte) (int, error) {
	if l.at == len(l.text) {
		return 0, io.EOF
	}
	if l.at == 0 || l.text[l.at-1] == '\n' {
		l.line++
	}
	end := l.at + bytes.IndexByte(l.text[l.at:], '\n') + 1
	n := copy(p, l.text[l.at:end])
	l.at += n
	return n, nil
}

// ended notes the line that a target began with.
func (l *lines) ended(first int) { l.behind = first }

// next is the line with which the next target of the HTTP format begins. Vegeta's
// Targeter may have read it already: it looks at the line after a target's first, and
// keeps it if it is that of another target.
func (l *lines) next() int {
	line, at := l.line, l.at
	if l.line > l.behind && l.line > 0 {
		at = 1 + bytes.LastIndexByte(l.text[:l.at-1], '\n') // again
	} else {
		line++
	}
	for ; at < len(l.text); line++ {
		end := at + bytes.IndexByte(l.text[at:], '\n')
		if text := bytes.TrimSpace(l.text[at:end]); len(text) > 0 && text[0] != '#' {
			return line
		}
		at = end + 1
	}
	return line
}
