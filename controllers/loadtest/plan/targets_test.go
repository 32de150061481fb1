package plan_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// replay is a LoadTest of a Service with a request of targets.
func replay(format v1beta1.TargetsFormat) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{}
	lt.Namespace = "demo"
	lt.Spec.Target.Service = &v1beta1.ServiceReference{Name: "shortener"}
	lt.Spec.Requests = []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{Targets: &v1beta1.Targets{
		From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "replay", Key: "targets.txt"}}, Format: format,
	}}}}
	lt.Status.TargetURL = "http://shortener.demo.svc:8080"
	lt.Status.Workers.Desired = 1
	return lt
}

func TestTargetsAreAMountedFile(t *testing.T) {
	for format, want := range map[v1beta1.TargetsFormat]workerv1.TargetsFormat{
		"":                        workerv1.TargetsFormat_TARGETS_FORMAT_HTTP,
		v1beta1.TargetsFormatHTTP: workerv1.TargetsFormat_TARGETS_FORMAT_HTTP,
		v1beta1.TargetsFormatJSON: workerv1.TargetsFormat_TARGETS_FORMAT_JSON,
	} {
		lt := replay(format)
		same.As(t, "files", []plan.File{{Kind: plan.InConfigMap, Name: "replay", Key: "targets.txt"}}, plan.Files(&lt.Spec))
		got := plan.Assignments(lt)[0].GetRequests()[0]
		if got.GetTargetsFile() != "/var/run/loadtest/configmaps/replay/targets.txt" || got.GetTargetsFormat() != want {
			t.Errorf("format %q: file %s of format %v", format, got.GetTargetsFile(), got.GetTargetsFormat())
		}
	}
}

func TestTargetsMayNameTheServiceInEachOfItsForms(t *testing.T) {
	lt := replay("")
	want := []string{"shortener:8080", "shortener.demo:8080", "shortener.demo.svc:8080", "shortener.demo.svc.cluster.local:8080"}
	same.As(t, "aliases", want, plan.Assignments(lt)[0].GetTarget().GetAliases())
	lt.Spec.Requests[0].HTTP.Targets = nil
	if got := plan.Assignments(lt)[0].GetTarget().GetAliases(); got != nil {
		t.Errorf("aliases %v without targets, want none", got)
	}
	lt = replay("")
	lt.Spec.Target = v1beta1.Target{URL: "http://shortener:8080"}
	if got := plan.Assignments(lt)[0].GetTarget().GetAliases(); got != nil {
		t.Errorf("aliases %v of a URL, want none", got)
	}
}

// What the file says is not known when a run is accepted: a worker holds it to the host that was allowed.
func TestTargetsAreForTheHostThatIsAllowed(t *testing.T) {
	proxy := &v1beta1.Proxy{URL: "http://proxy:3128"}
	for name, tc := range map[string]struct {
		access *v1beta1.TargetAccess
		proxy  *v1beta1.Proxy
		want   bool
	}{
		"a host":                    {access: &v1beta1.TargetAccess{Name: "shop.example.com."}, want: true},
		"a host behind a proxy":     {access: &v1beta1.TargetAccess{Name: "proxy.demo.svc.cluster.local.", ServiceUID: "1"}, proxy: proxy, want: true},
		"a Service":                 {access: &v1beta1.TargetAccess{Name: "shop.demo.svc.cluster.local.", ServiceUID: "1"}},
		"an address":                {access: &v1beta1.TargetAccess{}},
		"on a person's own machine": {},
	} {
		lt := replay("")
		lt.Status.Internal.Access, lt.Status.Internal.ControlAccess = tc.access, tc.access
		lt.Spec.Target.Proxy = tc.proxy
		lt.Spec.OtherTargets = []v1beta1.OtherTarget{{Name: "v3", URL: "http://old:8080", Proxy: tc.proxy}}
		lt.Spec.Versus = &v1beta1.Versus{Target: "v3"}
		lt.Status.Versus = &v1beta1.VersusStatus{TargetURL: "http://old:8080"}
		a := plan.Assignments(lt)[0]
		same.As(t, name, []bool{tc.want, tc.want}, []bool{a.GetTarget().GetOwnHostOnly(), a.GetControl().GetTarget().GetOwnHostOnly()})
	}
}

// The same file is sent to both targets of a comparison.
func TestTargetsOfTheCandidateGoToTheControl(t *testing.T) {
	lt := replay("")
	lt.Spec.Target = v1beta1.Target{URL: "http://new:8080"}
	lt.Status.TargetURL = "http://new:8080"
	lt.Spec.OtherTargets = []v1beta1.OtherTarget{{Name: "v3", URL: "http://old:8080"}}
	lt.Spec.Versus = &v1beta1.Versus{Target: "v3"}
	lt.Status.Versus = &v1beta1.VersusStatus{TargetURL: "http://old:8080"}
	got := plan.Assignments(lt)[0].GetControl().GetTarget().GetAliases()
	same.As(t, "aliases", []string{"new:8080"}, got)
}

func TestResponsesAreExposedOnlyIfTheSpecSaysSo(t *testing.T) {
	lt := replay("")
	for expose, want := range map[v1beta1.Exposure]bool{"": false, v1beta1.ExposeNone: false, v1beta1.ExposeResponses: true} {
		lt.Spec.Expose = expose
		if got := plan.Assignments(lt)[0].GetExposeResponses(); got != want {
			t.Errorf("expose %q: %v, want %v", expose, got, want)
		}
	}
}

func TestDriverIsAssigned(t *testing.T) {
	lt := replay("")
	for driver, want := range map[v1beta1.Driver]workerv1.Driver{
		"": workerv1.Driver_DRIVER_UNSPECIFIED, v1beta1.DriverAuto: workerv1.Driver_DRIVER_UNSPECIFIED,
		v1beta1.DriverVegeta: workerv1.Driver_DRIVER_VEGETA,
	} {
		lt.Spec.Worker = &v1beta1.Worker{Driver: driver}
		if got := plan.Assignments(lt)[0].GetDriver(); got != want {
			t.Errorf("driver %q is assigned as %v, want %v", driver, got, want)
		}
	}
}
