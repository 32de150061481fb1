package must

import (
	"io"
	"os"
	"strings"
	"testing"
)

// Succeed ends the test at an error.
func Succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ReadFile is the content of a file.
func ReadFile(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	Succeed(t, err)
	return content
}

// Report reports an error, and goes on; what says of what.
func Report(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// Say reports an error that does not say the words, or that there is none.
func Say(t testing.TB, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want one that says %q", err, words)
	}
}

// Close closes c when the test ends.
func Close(t testing.TB, c io.Closer) {
	t.Helper()
	t.Cleanup(func() { Report(t, "close", c.Close()) })
}
