package source

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// place is where in a request a text stands. What may stand in a path may stand
// in a header too, and that in a body.
type place uint8

const (
	inBody place = iota
	inHeader
	inPath
)

// check refuses what would break the framing of a request: a row of data must
// not become a request of its own. What else is in the text is not told: it may be
// secret.
func (p place) check(text string) error {
	switch {
	case p >= inPath:
		if i := strings.IndexFunc(text, notInPath); i >= 0 {
			return fmt.Errorf("%q at %d must be percent-encoded, as it stands in a path", text[i:i+1], i)
		}
	case p >= inHeader && !httpguts.ValidHeaderFieldValue(text):
		return errors.New("holds a control character, and stands in a header")
	}
	return nil
}

// notInPath finds what would end the request line or the request.
func notInPath(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }
