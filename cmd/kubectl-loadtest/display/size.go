package display

import (
	"os"

	"golang.org/x/term"
)

// SizeOf returns how to ask for the size of a terminal, in columns and rows; nil if f is none, or one
// that cannot move its cursor.
func SizeOf(f *os.File) func() (columns, rows int) {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func() (int, int) {
		const usualColumns, usualRows = 80, 24
		if columns, rows, err := term.GetSize(fd); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
		return usualColumns, usualRows
	}
}
