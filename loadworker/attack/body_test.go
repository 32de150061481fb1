package attack

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// A whole response of an expected status whose body is not as expected is a bad
// response: neither expected nor completed, and the sample says what was found.
func TestUnexpectedBodyIsABadResponse(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		tests := map[string]struct {
			expect source.Expectation
			want   string
			sample string
		}{
			"nothing is expected":  {source.Expectation{}, "success", ""},
			"as it should be":      {source.Expectation{JSON: []source.ExpectedValue{{Path: ".state", Equals: "up"}}}, "success", ""},
			"another value":        {source.Expectation{JSON: []source.ExpectedValue{{Path: ".state", Equals: "down"}}}, "badResponse", `request "it": .state: "up" instead of "down"`},
			"small enough":         {source.Expectation{MaxBytes: 14}, "success", ""},
			"too large":            {source.Expectation{MaxBytes: 13}, "badResponse", `request "it": body of 14 bytes, at most 13 are expected`},
			"an unexpected status": {source.Expectation{Status: []int32{204}, MaxBytes: 1}, "unexpectedStatus", `request "it": status 200 OK`},
		}
		o := newOracle(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"state":"up"}`) })
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := d.runner(t, setup{url: o.URL, requests: []source.Request{
					{Name: "it", Weight: 1, Method: "GET", Path: "/", Expect: tt.expect},
				}})
				for kind, step := range map[string]StepShare{
					"users":    usersStep(2, Burst{Requests: 5, Limit: time.Minute}),
					"arrivals": arrivalsStep(5e6, time.Second),
				} {
					got := drive(t, r, step)
					q := total(t, got)
					if diff := cmp.Diff(map[string]int64{tt.want: q.Sent}, outcomes(q)); diff != "" || q.Sent == 0 {
						t.Errorf("%s: outcomes (-want +got):\n%s", kind, diff)
					}
					good := tt.want == "success"
					if good != (q.Expected == q.Sent) || !good && q.Expected != 0 || tt.want == "badResponse" && q.CompletedInWindow != 0 {
						t.Errorf("%s: %d of %d as expected, %d completed", kind, q.Expected, q.Sent, q.CompletedInWindow)
					}
					for _, text := range got.Errors {
						contains(t, text, tt.sample)
					}
					if len(got.Errors) == 0 != good {
						t.Errorf("%s: samples %v", kind, got.Errors)
					}
				}
			})
		}
	})
}
