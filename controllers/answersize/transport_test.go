package answersize_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/answersize"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// answer is a transport that answers everything with a body of that many bytes.
type answer int

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Body: io.NopCloser(strings.NewReader(strings.Repeat("x", int(a))))}, nil
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]error{0: nil, answersize.Most: nil, answersize.Most + 1: answersize.ErrTooLarge} {
		got, err := answersize.Wrap(answer(size)).RoundTrip(nil)
		must.Succeed(t, err)
		read, err := io.Copy(io.Discard, got.Body)
		if !errors.Is(err, want) || want == nil && (err != nil || read != int64(size)) {
			t.Errorf("of %d bytes %d were read: %v, want %v", size, read, err, want)
		}
	}
}
