package failure

import (
	"errors"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/text"
)

// Withheld is an error about a text that the target sent. Its own text says what is wrong
// with that, and has none of it: it may be secret, and errors stand where many can read
// them.
type Withheld struct {
	Err error
	// Sent is the beginning of what the target sent.
	Sent string
}

// maxSent bounds how much of what the target sent is kept, and shown.
const maxSent = 80

// Withhold returns an error about a text that the target sent.
func Withhold[T string | []byte](sent T, format string, args ...any) error {
	// A character has up to four bytes.
	return &Withheld{Err: fmt.Errorf(format, args...), Sent: string(sent[:min(len(sent), 4*maxSent)])}
}

func (e *Withheld) Error() string { return e.Err.Error() }

// Unwrap returns the error without the text.
func (e *Withheld) Unwrap() error { return e.Err }

// Message is the text of an error, with what the target sent only if that is exposed.
func Message(err error, exposed bool) string {
	var w *Withheld
	if !exposed || !errors.As(err, &w) {
		return err.Error()
	}
	return fmt.Sprintf("%v; the target sent %q", err, text.Truncate(w.Sent, maxSent))
}
