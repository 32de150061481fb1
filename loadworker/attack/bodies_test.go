package attack

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Users whose bodies there is memory for at one time are served, however many there are of
// them. A body for which there is none is a bad response.
func TestBodiesTakeTheirMemoryOneAfterAnother(t *testing.T) {
	document := `{"a":"` + strings.Repeat("b", 100_000) + `","ok":true}`
	for name, tt := range map[string]struct {
		budget int64
		want   string
		says   string
	}{
		// A piece of 128 KiB, beside the one of 64 KiB from which it is copied.
		"room for one":  {192 << 10, "success", ""},
		"room for none": {64 << 10, "badResponse", `request "it": body of 100018 bytes, for which the worker had no memory left`},
	} {
		t.Run(name, func(t *testing.T) {
			forEachDriver(t, func(t *testing.T, d testDriver) {
				server := newOracle(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, document) })
				budget := transport.NewBudget(tt.budget)
				r := d.runner(t, setup{url: server.URL, bodies: budget, requests: []source.Request{{
					Name: "it", Weight: 1, Method: "GET", Path: "/",
					Expect: source.Expectation{JSON: []source.ExpectedValue{{Path: ".ok", Equals: "true"}}},
				}}})
				for range 20 {
					got := drive(t, r, usersStep(1, Burst{Requests: 2, Limit: time.Hour}))
					if diff := cmp.Diff(map[string]int64{tt.want: 2}, outcomes(total(t, got))); diff != "" {
						t.Fatalf("outcomes (-want +got):\n%s", diff)
					}
					if tt.says != "" && !strings.Contains(errorsOf(got)[measure.BadResponse], tt.says) {
						t.Fatalf("%+v, want %q", errorsOf(got), tt.says)
					}
				}
				if taken := budget.Taken(); taken != 0 {
					t.Errorf("%d bytes are taken after the last response", taken)
				}
			})
		})
	}
}
