package coordinator

import (
	"testing"

	"google.golang.org/grpc/metadata"
)

func TestBearerToken(t *testing.T) {
	for name, tc := range map[string]struct {
		values []string
		want   string
	}{
		"a token":        {[]string{"Bearer abc"}, "abc"},
		"none":           {nil, ""},
		"two":            {[]string{"Bearer abc", "Bearer abc"}, ""},
		"another scheme": {[]string{"Basic abc"}, ""},
		"a scheme alone": {[]string{"Bearer "}, ""},
		"no scheme":      {[]string{"abc"}, ""},
	} {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.MD{"authorization": tc.values})
		if got, ok := bearerToken(ctx); ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s: got %q, %t, want %q", name, got, ok, tc.want)
		}
	}
	if _, ok := bearerToken(t.Context()); ok {
		t.Error("there is a token without metadata")
	}
}
