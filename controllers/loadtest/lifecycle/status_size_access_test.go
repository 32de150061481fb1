package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// leadsTo is a target that may lead to so many ranges of addresses.
func leadsTo(ranges int) *v1beta1.TargetAccess {
	a := &v1beta1.TargetAccess{Name: "shop.example.com."}
	for i := range ranges {
		a.Allowed = append(a.Allowed, v1beta1.AllowedAddresses{Range: fmt.Sprintf("2001:db8:1234:%x::/64", 0x1000+i), Port: 8443})
	}
	return a
}

// A plan whose status has room for its results, and none for the addresses of its target
// beside them, is refused when it is accepted.
func TestAddressesOfTargetsNeedRoomInTheStatus(t *testing.T) {
	const refused = "spec.target: the addresses that it may lead to take "
	for name, tc := range map[string]struct {
		ranges, controls, annotation int
		want                         string
	}{
		"few":                          {1, 0, 63_000, ""},
		"many, and room for them":      {320, 320, 10_000, ""},
		"many, and just room":          {320, 0, 50_000, ""},
		"many, and none":               {320, 0, 64_600, refused + "15 KiB, but the LoadTest has 3 KiB left; use fewer steps"},
		"many of two targets":          {160, 320, 59_600, refused + "22 KiB, but the LoadTest has 8 KiB left"},
		"no room for anything already": {1, 0, 120_000, "spec: the results of load steps x types of request"},
	} {
		t.Run(name, func(t *testing.T) {
			lt := but(crowded(30, 32, 0), func(lt *v1beta1.LoadTest) {
				lt.Annotations = map[string]string{"a": strings.Repeat("x", tc.annotation)}
			})
			seen := lifecycle.Observed{Access: &lifecycle.Access{Target: leadsTo(tc.ranges)}}
			if tc.controls > 0 {
				seen.Access.Control = leadsTo(tc.controls)
			}
			got := lifecycle.Decide(lt, policy.Rules{}, seen, began).Status
			message := ""
			if c := v1beta1.NotCarriedOut(got.Conditions); c != nil {
				message = c.Message
			}
			if (message == "") != (tc.want == "") || !strings.HasPrefix(message, tc.want) {
				t.Errorf("refusal %q, want %q", message, tc.want)
			}
			if lt.Status = got; tc.want == "" && decide(lt, seen, time.Second).Status.Verdict != "" {
				t.Error("what was granted is refused later")
			}
			if (got.Internal.Access == nil) != (tc.want != "") {
				t.Errorf("the status has access: %t", got.Internal.Access != nil)
			}
		})
	}
}

// Addresses that just fit beside the results are granted.
func TestAddressesThatFitExactly(t *testing.T) {
	seen := lifecycle.Observed{Access: &lifecycle.Access{Target: leadsTo(9)}}
	takes := jsonSize(t, leadsTo(9)) + 2*len("null") // the control, and others
	for left, want := range map[int]v1beta1.Verdict{takes: "", takes - 1: v1beta1.VerdictError} {
		if got := decide(padded(crowded(2, 2, 0), left), seen, 0).Status.Verdict; got != want {
			t.Errorf("with room for %d bytes the verdict is %q", left, got)
		}
	}
}
