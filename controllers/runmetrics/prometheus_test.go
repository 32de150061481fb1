package runmetrics_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A Prometheus that is set to read native buckets computes a quantile from them that is
// right by 9 %, without a classic bucket.
func TestPrometheusReadsNativeBuckets(t *testing.T) {
	o := newOperator(t, running("a"))
	m := measure.NewMeasurement(1)
	for i := range 1000 {
		m.Requests[0].Response.Record(time.Duration(i+1) * time.Millisecond)
	}
	o.live["uid-of-a"] = &exchange.Report{Merged: m}
	operator := httptest.NewServer(promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{}))
	defer operator.Close()
	ask := startPrometheus(t, operator.URL)
	if n := ask("histogram_count(loadtest_response_time_seconds)"); n != 1000 {
		t.Errorf("Prometheus counts %v, want 1000", n)
	}
	for q, want := range map[string]float64{"0.5": 0.5, "0.9": 0.9, "0.99": 0.99} {
		got := ask("histogram_quantile(" + q + ", loadtest_response_time_seconds)")
		if math.Abs(got-want) > 0.09*want {
			t.Errorf("quantile %s is %v s, want %v", q, got, want)
		}
	}
}

// startPrometheus has one read the metrics of a server each second. ask waits until an
// expression has a value, and returns it: there is none at the start, nor after a read that
// took longer than a second.
func startPrometheus(t *testing.T, server string) (ask func(expr string) float64) {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("no prometheus: run make deps, or apt-get install prometheus")
	}
	target, err := url.Parse(server)
	must.Succeed(t, err)
	folder := t.TempDir()
	config := filepath.Join(folder, "prometheus.yml")
	text := fmt.Sprintf("scrape_configs: [{job_name: operator, scrape_interval: 1s, static_configs: [{targets: [%q]}]}]", target.Host)
	must.Succeed(t, os.WriteFile(config, []byte(text), 0o600))
	// An address of its own: a port that is free now may be another program's by the time
	// that Prometheus listens.
	address := fmt.Sprintf("127.%d.%d.1:9090", 1+os.Getpid()/256%254, os.Getpid()%256)
	command := exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+folder, "--web.listen-address="+address, "--enable-feature=native-histograms")
	must.Succeed(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	once := func(expr string) float64 {
		answer, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(expr))
		if err != nil {
			return math.NaN() // it starts
		}
		defer answer.Body.Close()
		var vector struct {
			Data struct{ Result []struct{ Value [2]any } }
		}
		if err := json.NewDecoder(answer.Body).Decode(&vector); err != nil || len(vector.Data.Result) != 1 {
			return math.NaN()
		}
		value, err := strconv.ParseFloat(vector.Data.Result[0].Value[1].(string), 64)
		must.Succeed(t, err)
		return value
	}
	return func(expr string) (value float64) {
		deadline := time.After(3 * time.Minute)
		for value = once(expr); math.IsNaN(value); value = once(expr) {
			select {
			case <-deadline:
				t.Fatalf("%s has no value after three minutes", expr)
			case <-time.After(200 * time.Millisecond):
			}
		}
		return value
	}
}

// The panels by request and of streams of the chart's dashboard find data, and what is counted:
// Prometheus reads counters, labels and percentiles as they are shown.
func TestPanelsFindData(t *testing.T) {
	lt := running("checkout")
	o := newOperator(t, lt)
	last := lt.DeepCopy().Status
	last.Verdict, last.Steps[0].State, last.Steps[0].Result = v1beta1.VerdictFailed, v1beta1.StepComplete, result(t, 1000)
	last.Steps[0].Result.Requests[0].Outcomes = v1beta1.Outcomes{Success: 1000}
	last.Steps[0].Result.Streams = &v1beta1.StreamsResult{
		Events: 90, FirstEvent: &v1beta1.EventTimes{P95: milliseconds(40)},
		BetweenEvents: &v1beta1.EventTimes{P95: milliseconds(20)}, LongestGap: &v1beta1.EventTimes{P95: milliseconds(2000)},
	}
	o.Finished(lt.UID, &last)
	operator := httptest.NewServer(promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{}))
	defer operator.Close()
	ask := startPrometheus(t, operator.URL)
	text, err := os.ReadFile("../../charts/loadtest-operator/files/dashboard.json")
	must.Succeed(t, err)
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must.Succeed(t, json.Unmarshal(text, &board))
	got := map[string]float64{}
	fill := strings.NewReplacer("$__rate_interval", "1m", "$namespace", lt.Namespace, "$name", lt.Name)
	for _, panel := range board.Panels {
		if strings.HasSuffix(panel.Title, ", by request") || strings.HasSuffix(panel.Title, ", of streams") {
			got[panel.Title] = ask(fill.Replace(panel.Targets[0].Expr))
		}
	}
	same.As(t, "panels", map[string]float64{
		"Rate, by request": 0, "Failed, by request": 0, "Outcomes, by request": 0, "p95, by request": 0.005,
		"Time to the first event, of streams": 0.04, "Between events, of streams": 0.02, "Longest gap, of streams": 2, "Events, of streams": 0,
	}, got)
	for expr, want := range map[string]float64{
		`loadtest_request_sent_total{request="browse"}`: 1002, `loadtest_request_failed_total{request="browse"}`: 2,
		`loadtest_request_outcomes_total{request="browse", outcome="success"}`: 1000, `loadtest_stream_events_total`: 90,
	} {
		if n := ask(expr); n != want {
			t.Errorf("%s is %v, want %v", expr, n, want)
		}
	}
}
