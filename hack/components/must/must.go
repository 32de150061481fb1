package must

import (
	"io"
	"os"
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

// Close closes c when the test ends.
func Close(t testing.TB, c io.Closer) {
	t.Helper()
	t.Cleanup(func() { Report(t, "close", c.Close()) })
}
