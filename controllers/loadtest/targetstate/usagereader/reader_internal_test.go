package usagereader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// service answers with a Service of that selector, or fails.
type service struct {
	client.Reader
	selector map[string]string
	err      error
}

func (s service) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	into.(*corev1.Service).Spec.Selector = s.selector
	return s.err
}

// api is the resource metrics API, which answers in that way.
func api(answer func(*http.Request) (status int, body io.Reader, err error)) *Reader {
	return &Reader{
		API: service{selector: map[string]string{"app": "shop"}},
		Metrics: &fake.RESTClient{NegotiatedSerializer: scheme.Codecs, Client: fake.CreateHTTPClient(func(r *http.Request) (*http.Response, error) {
			status, body, err := answer(r)
			if err != nil {
				return nil, err
			}
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body)}, nil
		})},
	}
}

func list(items ...string) io.Reader {
	return strings.NewReader(`{"kind":"PodMetricsList","items":[` + strings.Join(items, ",") + `]}`)
}

func pod(name string, at time.Time, window, cpu string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"timestamp":%q,"window":%q,"containers":[{"name":"app","usage":{"cpu":%q,"memory":"64Mi"}}]}`, name, at.UTC().Format(time.RFC3339), window, cpu)
}

// recorded is what a status has of it.
func recorded(u *targetstate.Usage, began time.Time) *v1beta1.StepUsage {
	start := metav1.NewMicroTime(began)
	status := &v1beta1.LoadTestStatus{Environment: &v1beta1.EnvironmentStatus{}, Steps: []v1beta1.StepStatus{{Name: "one", StartTime: &start}}}
	targetstate.Record(status, &targetstate.Seen{Look: targetstate.Look{Point: targetstate.After}, Usage: u}, nil)
	return status.Steps[0].Environment.Usage
}

// However often a step is passed over, the API is asked once in 5 s, by the namespace and the selector
// of the Service, and once more at the end.
func TestReadingsAreMadeOnceInFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var asked []string
		r := api(func(r *http.Request) (int, io.Reader, error) {
			asked = append(asked, fmt.Sprint(time.Since(began), " ", r.URL.Path, "?", r.URL.RawQuery))
			return 200, list(pod("a", time.Now(), "5s", "250m")), nil
		})
		var readings *Readings
		sample := lifecycle.Sample{Step: 1, Service: "shop", From: began, To: began.Add(20 * time.Second)}
		for range 12 {
			readings = r.Continue(t.Context(), "ns", readings, sample, time.Now())
			<-time.After(time.Second)
		}
		usage := recorded(r.Final(t.Context(), "ns", readings, 1), began)
		const of = " /apis/metrics.k8s.io/v1beta1/namespaces/ns/pods?labelSelector=app%3Dshop"
		same.As(t, "asked", []string{"0s" + of, "5s" + of, "10s" + of, "12s" + of}, asked)
		// The first is of the time before the step.
		want := &v1beta1.StepUsage{Containers: []v1beta1.ContainerUsage{{Name: "app", Readings: 3, CPU: "250m", MostCPU: "250m", MostMemory: "64Mi"}}}
		same.As(t, "usage", want, usage)
		if other := recorded(r.Final(t.Context(), "ns", readings, 2), began); other.Problem == "" {
			t.Errorf("of another step there is %+v", other)
		}
		if next := r.Continue(t.Context(), "ns", readings, lifecycle.Sample{Step: 2, From: time.Now()}, time.Now()); next == readings {
			t.Error("another step goes on with the readings of this one")
		}
		synctest.Wait()
	})
}

// A server that does not answer holds up no pass, and the end of a step for 2 s.
func TestSilentAPIServerHoldsUpNoPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := &Reader{API: apiserver.Silent{}}
		sample := lifecycle.Sample{Step: 1, Service: "shop", From: began}
		readings := r.Continue(t.Context(), "ns", nil, sample, began)
		same.As(t, "time that a pass waited", 0, time.Since(began))
		usage := recorded(r.Final(t.Context(), "ns", readings, 1), began)
		if took := time.Since(began); took != 2*time.Second || usage.Problem != "The resource metrics API could not be read: get Service: context deadline exceeded." {
			t.Errorf("after %s: %+v", took, usage)
		}
		synctest.Wait()
	})
}

func TestProblemsOfReadings(t *testing.T) {
	status := func(code int, reason string) func(*http.Request) (int, io.Reader, error) {
		return func(*http.Request) (int, io.Reader, error) {
			return code, strings.NewReader(fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no rule","reason":%q,"code":%d}`, reason, code)), nil
		}
	}
	endless := func(*http.Request) (int, io.Reader, error) {
		return 200, io.MultiReader(strings.NewReader(`{"items":["`), io.LimitReader(zeros{}, 1<<30)), nil
	}
	now := time.Now()
	for name, tc := range map[string]struct {
		reader *Reader
		want   string
	}{
		"not served":     {api(status(404, "NotFound")), "The cluster does not serve the resource metrics API, as metrics-server does, or the Service is gone: "},
		"not allowed":    {api(status(403, "Forbidden")), "The operator may not read what the pods of the target use (the chart's value environment.usage): "},
		"not there":      {api(status(503, "ServiceUnavailable")), "The resource metrics API could not be read: "},
		"not reachable":  {api(func(*http.Request) (int, io.Reader, error) { return 0, nil, errors.New("connection refused") }), "The resource metrics API could not be read: "},
		"endless":        {api(endless), "The resource metrics API could not be read: the answer has more than 4194304 bytes."},
		"no JSON":        {api(func(*http.Request) (int, io.Reader, error) { return 200, strings.NewReader("<html>"), nil }), "The resource metrics API could not be read: read the answer: invalid character"},
		"no selector":    {&Reader{API: service{}}, "The resource metrics API could not be read: the Service has no selector."},
		"nothing at all": {api(func(*http.Request) (int, io.Reader, error) { return 200, list(), nil }), "The resource metrics API gave no reading while the step ran."},
		"no numbers": {api(func(*http.Request) (int, io.Reader, error) {
			return 200, list(pod("a", now, "0s", "1"), pod("b", now, "1s", "-1"), `{"timestamp":null,"window":"1s","containers":[{"name":"x"}]}`), nil
		}), "The resource metrics API gave no reading while the step ran."},
		"a panic":        {&Reader{API: service{selector: map[string]string{"app": "shop"}}}, "The resource metrics API could not be read: the operator failed; its log says how."},
		"not configured": {nil, "The operator is configured not to read what the pods of targets use."},
	} {
		t.Run(name, func(t *testing.T) {
			readings := &Readings{sample: lifecycle.Sample{Step: 1, Service: "shop", From: now.Add(-time.Minute)}}
			if got := recorded(tc.reader.Final(t.Context(), "ns", readings, 1), now).Problem; !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// What is absurd does not make sums wrong.
func TestAbsurdNumbersAreBounded(t *testing.T) {
	r := api(func(*http.Request) (int, io.Reader, error) { return 200, list(pod("a", time.Now(), "1s", "9E")), nil })
	readings := &Readings{sample: lifecycle.Sample{Step: 1, From: time.Now().Add(-time.Minute)}}
	got := recorded(r.Final(t.Context(), "ns", readings, 1), time.Now())
	if len(got.Containers) != 1 || got.Containers[0].CPU != "1M" {
		t.Errorf("%+v", got)
	}
}
