package apiserver

import (
	"fmt"
	"testing"
)

func TestPersist(t *testing.T) {
	tests := map[string]struct {
		failing, tried int
		want           string
	}{
		"at once":           {0, 1, ""},
		"a port was taken":  {1, 2, ""},
		"the last attempt":  {attempts - 1, attempts, ""},
		"it cannot succeed": {attempts + 1, attempts, "failure 1\nfailure 2\nfailure 3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tried := 0
			err := persist(func() error {
				if tried++; tried <= test.failing {
					return fmt.Errorf("failure %d", tried)
				}
				return nil
			})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if tried != test.tried || got != test.want {
				t.Errorf("after %d attempts: %q, want %q after %d", tried, got, test.want, test.tried)
			}
		})
	}
}
