package desired

import "testing"

func TestResults(t *testing.T) {
	check(t, "results", Results(loadTest(nil), "shortener-reads-2-9f86d081884c7d65", []byte("packed")))
}
