package vegeta_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	vegetalib "github.com/tsenart/vegeta/v12/lib"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/vegeta"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What vegeta's own type reads is what the status has.
func TestFiguresAreThoseOfTheStatus(t *testing.T) {
	lt := reporttest.Knee(t)
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		data, err := vegeta.JSON(lt, step.Name)
		must.Succeed(t, err)
		var m vegetalib.Metrics
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		must.Succeed(t, decoder.Decode(&m))
		r, times := step.Result, step.Result.ServiceTime
		codes, sum := map[string]int{}, 0
		for _, c := range r.StatusCodes {
			codes[strconv.Itoa(int(c.Code))] = int(c.Count)
		}
		for code, n := range m.StatusCodes {
			if sum += n; code != "0" && code != "other" && codes[code] != n {
				t.Errorf("step %s: %d responses of %s, want %d", step.Name, n, code, codes[code])
			}
		}
		samples := 0
		for i := range r.Requests {
			samples += len(r.Requests[i].ErrorSamples)
		}
		goodput, _ := strconv.ParseFloat(r.Goodput, 64)
		got := []any{m.Requests, sum, m.Throughput, m.Success, m.Duration, m.Latencies.Min, m.Latencies.Mean, m.Latencies.P50, m.Latencies.P90, m.Latencies.P95, m.Latencies.P99, m.Latencies.Max, m.Earliest.UnixMicro(), len(m.Errors)}
		want := []any{
			uint64(r.Sent), int(r.Sent), goodput, float64(r.Expected) / float64(r.Sent), step.Window.Duration,
			times.Min.Duration, times.Mean.Duration, times.P50.Duration, times.P90.Duration, times.P95.Duration, times.P99.Duration, times.Longest.Duration,
			step.StartTime.UnixMicro(), samples,
		}
		same.As(t, "step "+step.Name, want, got)
		if strings.Contains(string(data), "bytes_in") {
			t.Errorf("step %s has bytes, which were not measured", step.Name)
		}
	}
}

func TestTextIsVegetas(t *testing.T) {
	lt := reporttest.Knee(t)
	step := &lt.Status.Steps[0]
	data, err := vegeta.Text(lt, step.Name)
	must.Succeed(t, err)
	for _, want := range []string{
		fmt.Sprintf("Requests      [total, rate, throughput]         %d, ", step.Result.Sent), "Latencies     [min, mean, 50, 90, 95, 99, max]", "Status Codes  [code:count]", "Error Set:\n",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%q is not in\n%s", want, data)
		}
	}
	if strings.Contains(string(data), "Bytes") {
		t.Errorf("it has bytes, which were not measured:\n%s", data)
	}
}

// small is a step of few requests, some of which got no response.
func small() *v1beta1.LoadTest {
	second, half := metav1.Duration{Duration: time.Second}, metav1.Duration{Duration: time.Second / 2}
	return &v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{
		{Name: "pause"},
		{Name: "small", Window: &second, Load: v1beta1.StepLoad{WarmUp: &second}, StartTime: &metav1.MicroTime{Time: time.Unix(10, 0)}, Result: &v1beta1.StepResult{
			Counts: v1beta1.Counts{
				Sent: 10, Completed: 7, Expected: 6, Outcomes: v1beta1.Outcomes{Success: 6, ServerError: 1, Timeout: 3},
				StatusCodes: []v1beta1.StatusCodeCount{{Code: 200, Count: 6}},
			},
			ServiceTime: &v1beta1.Latency{Samples: 10, Mean: &half, P50: &half, Longest: &second},
		}},
	}}}
}

func TestFewSamplesHaveTheLongestAsTheirLastQuantile(t *testing.T) {
	data, err := vegeta.JSON(small(), "")
	must.Succeed(t, err)
	var m vegetalib.Metrics
	must.Succeed(t, json.Unmarshal(data, &m))
	got := []any{m.Latencies.P50, m.Latencies.P99, m.Latencies.Total, m.Earliest.Unix(), m.StatusCodes}
	want := []any{time.Second / 2, time.Second, 5 * time.Second, int64(11), map[string]int{"0": 3, "200": 6, "other": 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOneStepIsChosen(t *testing.T) {
	knee := reporttest.Knee(t)
	for name, tt := range map[string]struct {
		lt   *v1beta1.LoadTest
		step string
		want string
	}{
		"several": {knee, "", "choose with --step"},
		"none":    {&v1beta1.LoadTest{}, "", "no step has a result yet"},
		"another": {small(), "large", `--step "large": the steps with a result are "small"`},
	} {
		if _, err := vegeta.Text(tt.lt, tt.step); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}
