package html_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

func TestUsersAreDrawnAsTheLoadHasThem(t *testing.T) {
	const title = "Users over time"
	for name, row := range map[string]struct {
		load v1beta1.StepLoad
		want string // empty: no figure
	}{
		"constant":               {load: v1beta1.StepLoad{Users: 100}, want: "users: 100"},
		"a ramp":                 {load: v1beta1.StepLoad{Users: 100, RampTo: ptr.To(v1beta1.NewDecimal("300"))}, want: "users: 100 to 300"},
		"a ramp that ends early": {load: v1beta1.StepLoad{Users: 100, RampTo: ptr.To(v1beta1.NewDecimal("300")), Duration: &metav1.Duration{Duration: 6 * time.Second}}, want: "users: 100 to 200"},
		"a rate":                 {load: v1beta1.StepLoad{Rate: ptr.To(v1beta1.NewDecimal("100"))}},
		"a burst":                {load: v1beta1.StepLoad{Users: 100, RequestsPerUser: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			lt, step := short(t) // has points of 3 s
			if row.load.Duration == nil {
				row.load.Duration = lt.Status.Steps[0].Load.Duration
			}
			lt.Status.Steps[0].Load = row.load
			got := page(t, lt, step)
			_, figure, drawn := strings.Cut(got, title)
			if drawn != (row.want != "") {
				t.Fatalf("a figure of users: %t", drawn)
			}
			figure, _, _ = strings.Cut(figure, "</svg>")
			if drawn && !strings.Contains(figure, "<title>"+row.want+"</title>") {
				t.Errorf("no line %q in %s", row.want, figure)
			}
		})
	}
}
