package plan_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

func TestTargetsOfARunThatHasNotBegun(t *testing.T) {
	service := func(port intstr.IntOrString) v1beta1.Target {
		return v1beta1.Target{Service: &v1beta1.ServiceReference{Name: "shortener", Port: &port}}
	}
	for name, tt := range map[string]struct {
		target          v1beta1.Target
		control         *v1beta1.Target
		want, ofControl string
	}{
		"a URL":                  {v1beta1.Target{URL: "https://shortener/"}, nil, "https://shortener", ""},
		"a Service":              {service(intstr.FromInt32(8080)), nil, "http://shortener.demo.svc:8080", ""},
		"a port that has a name": {service(intstr.FromString("web")), nil, "", ""},
		"a comparison": {
			service(intstr.FromString("web")), ptr(service(intstr.FromInt32(9090))), "", "http://shortener.demo.svc:9090",
		},
	} {
		t.Run(name, func(t *testing.T) {
			lt := loadTest(withSteps())
			lt.Spec.Target = tt.target
			if tt.control != nil {
				lt.Spec.OtherTargets = []v1beta1.OtherTarget{{Name: "v3", Service: tt.control.Service}}
				lt.Spec.Versus = &v1beta1.Versus{Target: "v3"}
			}
			if got := plan.TargetURLs(lt); got.Target != tt.want || got.Control != tt.ofControl {
				t.Errorf("the targets are %+v, want %q and %q", got, tt.want, tt.ofControl)
			}
		})
	}
}
