package answersize

import (
	"errors"
	"io"
	"net/http"
)

const (
	// Most is how many bytes an answer may have: twice what a page of 250 pods usually has. A decoder
	// needs a multiple of it.
	Most = 8 << 20
	// SmallPage is how many objects of any size fit: none is larger than 1.5 MiB, the most that the
	// store takes.
	SmallPage = 5
)

// ErrTooLarge is the error of an answer with more than Most bytes.
var ErrTooLarge = errors.New("the API server's answer is larger than 8 MiB")

// Wrap bounds the answers that come through a transport.
func Wrap(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ next http.RoundTripper }

// RoundTrip has the body of the answer end with ErrTooLarge.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.next.RoundTrip(r)
	if err == nil {
		answer.Body = &body{ReadCloser: answer.Body, left: Most}
	}
	return answer, err
}

// body is that of an answer.
type body struct {
	io.ReadCloser
	left int
}

// Read reads, as long as there is not too much.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
