package same

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// As reports where got differs from want; what says of what the two are values.
func As[T any](t testing.TB, what string, want, got T, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
