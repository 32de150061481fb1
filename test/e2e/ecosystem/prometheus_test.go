//go:build e2e

package ecosystem

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// clicks is a ladder of the shortener, whose clicks go through a queue.
const clicks = `
target: {service: {name: shortener}}
requests:
  - {name: create, weight: 20, http: {method: POST, path: /urls, headers: [{name: Content-Type, value: application/json}], body: '{"url":"https://example.com/${worker}/${seq}"}'}, expect: {status: [201]}}
  - {name: follow, weight: 80, http: {path: '/${code}'}, expect: {status: [302]}}
setup: {fill: {request: create, count: 50, capture: {code: .code}}}
steps: [{name: first, rate: 40, duration: 15s}, {name: rest, pause: 2s}, {name: second, rate: 80, duration: 15s}]
parallelism: 2
thresholds: [{metric: failureRate, max: 50%}, {metric: unsentRate, max: 90%}]
`

// checkPrometheus has a real Prometheus, run by the Prometheus Operator, find and read what
// the chart has for it.
func checkPrometheus(t *testing.T, e *ecosystem) {
	p := installPrometheus(t)
	ns := installShortener(t, p)
	since := time.Now()
	c := component{e, "Prometheus 3.5.0"} // as in prometheus.yaml
	c.check(t, "both replicas of the operator are scraped, by TLS and with a token", func(t *testing.T) string {
		return p.targets(t, `up{job="loadtest-operator-metrics"}`, 2)
	})
	c.check(t, "the target's pods are scraped", func(t *testing.T) string {
		return p.targets(t, fmt.Sprintf("up{namespace=%q}", ns), 4)
	})
	c.check(t, "exporters see the target's stores", func(t *testing.T) string {
		return p.targets(t, fmt.Sprintf("{__name__=~\"redis_up|pg_up\",namespace=%q}", ns), 2)
	})
	c.check(t, "the rules are loaded and evaluated", p.rules)
	lt := cluster.Create(t, ns, "ladder", clicks)
	cluster.Finish(t, lt)
	c.check(t, "values are those of the status", func(t *testing.T) string { return p.agrees(t, lt) })
	c.check(t, "counters began at zero, and never fell", func(t *testing.T) string {
		series := of("loadtest_requests_sent_total", lt)
		if first := p.value(t, "min_over_time("+series+"[10m])"); first != 0 {
			t.Errorf("the smallest count is %v", first)
		}
		resets := p.value(t, "resets("+series+"[10m])")
		if resets != 0 {
			t.Errorf("it fell %v times", resets)
		}
		return "from 0, 0 resets"
	})
	c.check(t, "one replica shows LoadTests", func(t *testing.T) string {
		if n := p.value(t, "count(count by (pod) (loadtest_phase))"); n != 1 {
			t.Errorf("%v do", n)
		}
		return "1"
	})
	c.check(t, "each query of the dashboard finds data", func(t *testing.T) string { return p.dashboard(t, lt, since) })
	p.alert(t, c, ns)
}

// of is a metric of a LoadTest.
func of(metric string, lt *v1beta1.LoadTest, more ...string) string {
	return fmt.Sprintf("%s{namespace=%q,name=%q%s}", metric, lt.Namespace, lt.Name, strings.Join(append([]string{""}, more...), ","))
}

// installShortener installs one that a Prometheus may scrape, with a queue of clicks.
func installShortener(t *testing.T, p *prometheus) (ns string) {
	t.Helper()
	ns = cluster.Namespace(t)
	args := []string{"install", "target", cluster.TargetsChart, "--namespace", ns, "--wait", "--timeout", cluster.Patience.String()}
	if cluster.Env("CLUSTER", "local") == "local" {
		args = append(args, "--values", cluster.TargetsChart+"/values-local.yaml")
	}
	cluster.MustCommand(t, "helm", append(args, "--set", "ratelimiter.enabled=false,shortener.enabled=true,shortener.clicks.mode=redis,shortener.cache.enabled=true,"+
		"exporters.redis.enabled=true,exporters.postgres.enabled=true,serviceMonitor.interval=2s",
		"--set", "shortener.image.repository="+cluster.Image("shortener")+",shortener.image.tag="+cluster.ImageTag(),
		"--set", fmt.Sprintf("networkPolicy.enabled=%t", cluster.Enforced()),
		"--set", `networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.kubernetes\.io/metadata\.name=`+p.namespace)...)
	return ns
}

// targets waits until that many targets are up.
func (p *prometheus) targets(t *testing.T, up string, want int) string {
	t.Helper()
	p.eventually(t, fmt.Sprintf("%d of %s", want, up), func() (bool, string) {
		n := len(p.query(t, up+" == 1"))
		return n >= want && n == len(p.query(t, up)), fmt.Sprint(p.query(t, up))
	})
	return fmt.Sprintf("%d up", len(p.query(t, up+" == 1")))
}

// rules waits until all rules of the chart have been evaluated.
func (p *prometheus) rules(t *testing.T) string {
	t.Helper()
	file := must.ReadFile(t, "../../../charts/loadtest-operator/files/rules.yaml")
	want := strings.Count(string(file), "- alert: ")
	var found struct {
		Groups []struct {
			Name  string
			Rules []struct{ Name, Health, LastError string }
		}
	}
	healthy := 0
	p.eventually(t, "every rule is healthy", func() (bool, string) {
		if err := p.get(t.Context(), "rules", nil, &found); err != nil {
			return false, err.Error()
		}
		healthy = 0
		for _, group := range found.Groups {
			for _, rule := range group.Rules {
				if rule.Health == "ok" {
					healthy++
				}
			}
		}
		return healthy == want, fmt.Sprintf("%d of %d: %+v", healthy, want, found)
	})
	return fmt.Sprintf("%d healthy", healthy)
}

// agrees compares what was scraped last with the status.
func (p *prometheus) agrees(t *testing.T, lt *v1beta1.LoadTest) string {
	t.Helper()
	p.eventually(t, "the verdict is scraped", func() (bool, string) {
		found := p.query(t, of("loadtest_verdict", lt, fmt.Sprintf("verdict=%q", lt.Status.Verdict))+" == 1")
		return len(found) == 1, fmt.Sprint(found)
	})
	var due, sent, expected, ended, success float64
	for _, step := range lt.Status.Steps {
		if r := step.Result; r != nil {
			due, sent, expected = due+float64(r.Due), sent+float64(r.Sent), expected+float64(r.Expected)
			ended, success = ended+float64(r.Sent-r.Outcomes.Unfinished), success+float64(r.Outcomes.Success)
		}
	}
	last := lt.Status.Steps[len(lt.Status.Steps)-1].Result
	for expr, want := range map[string]float64{
		of("loadtest_requests_due_total", lt): due, of("loadtest_requests_sent_total", lt): sent, of("loadtest_requests_expected_total", lt): expected,
		of("loadtest_requests_total", lt, `outcome="success"`): success, of("loadtest_response_time_seconds_count", lt): ended,
		of("loadtest_response_time_seconds_bucket", lt, `le="+Inf"`):                 ended,
		of("loadtest_step_response_time_seconds", lt, `percentile="p95"`):            last.ResponseTime.P95.Seconds(),
		of("loadtest_phase", lt, fmt.Sprintf("phase=%q", lt.Status.Phase)):           1,
		of("loadtest_completion_timestamp_seconds", lt):                              float64(lt.Status.CompletionTime.Unix()),
		of("loadtest_steps", lt):                                                     2,
		"sum(" + of("loadtest_requests_total", lt) + ")":                             sent,
		"sum(" + of("loadtest_request_sent_total", lt) + ")":                         sent,
		"sum(" + of("loadtest_request_outcomes_total", lt) + ")":                     sent,
		"sum(" + of("loadtest_request_failed_total", lt) + ")":                       sent - expected,
		"sum(" + of("loadtest_verdict", lt) + ")":                                    1,
		"count(" + of("loadtest_verdict", lt) + ")":                                  5,
		"max_over_time(" + of("loadtest_planned_requests_per_second", lt) + "[10m])": 80,
	} {
		same.As(t, expr, want, p.value(t, expr))
	}
	return fmt.Sprintf("%s, sent %v, as expected %v, p95 %s", lt.Status.Verdict, sent, expected, last.ResponseTime.P95.Duration)
}

// dashboard asks what Grafana would, from the ConfigMap that its sidecar finds.
func (p *prometheus) dashboard(t *testing.T, lt *v1beta1.LoadTest, since time.Time) string {
	t.Helper()
	out := cluster.MustCommand(t, "kubectl", "-n", cluster.OperatorNamespace, "get", "configmap", "-l", "grafana_dashboard=1", "-o", `jsonpath={.items[0].data.loadtests\.json}`)
	var board struct {
		Templating struct{ List []struct{ Definition string } }
		Panels     []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must.Succeed(t, json.Unmarshal([]byte(out), &board))
	fill := strings.NewReplacer("$__rate_interval", "10s", "$namespace", lt.Namespace, "$name", lt.Name, "$target", lt.Namespace)
	asked := 0
	ask := func(title, expr string) {
		asked++
		if n := p.points(t, fill.Replace(expr), since); n == 0 {
			t.Errorf("%s: no data: %s", title, fill.Replace(expr))
		}
	}
	for _, v := range board.Templating.List {
		if selector, ok := strings.CutPrefix(v.Definition, "label_values("); ok {
			ask("variable", selector[:strings.LastIndex(selector, ",")])
		}
	}
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			ask(panel.Title, target.Expr)
		}
	}
	if asked < 40 {
		t.Errorf("only %d queries were found", asked)
	}
	return fmt.Sprintf("%d queries with data", asked)
}

// alert has a LoadTest fail, and deletes it.
func (p *prometheus) alert(t *testing.T, c component, ns string) {
	t.Helper()
	lt := cluster.Create(t, ns, "fails", `
target: {service: {name: shortener}}
requests: [{name: version, http: {path: /version}}]
steps: [{name: 50/s, rate: 50, duration: 3s}]
thresholds: [{metric: p50, max: 1us}]
`)
	cluster.Finish(t, lt)
	firing := fmt.Sprintf(`ALERTS{alertname="LoadTestFailed",alertstate="firing",namespace=%q}`, ns)
	c.check(t, "an alert fires for a LoadTest that failed, and for it alone", func(t *testing.T) string {
		p.eventually(t, firing, func() (bool, string) {
			found := p.query(t, firing)
			return len(found) == 1 && found[0].labels["name"] == lt.Name, fmt.Sprint(lt.Status.Verdict, found)
		})
		return "LoadTestFailed for " + lt.Name
	})
	c.check(t, "the alert and all series end when the LoadTest is deleted", func(t *testing.T) string {
		series := fmt.Sprintf(`{__name__=~"loadtest_.*",namespace=%q,name=%q}`, ns, lt.Name)
		shown := len(p.query(t, series))
		if shown == 0 || len(p.query(t, firing)) == 0 {
			t.Fatalf("there was nothing to end: %d series, alerts %v", shown, p.query(t, firing))
		}
		must.Succeed(t, cluster.API.Delete(t.Context(), lt))
		p.eventually(t, "nothing is left of "+lt.Name, func() (bool, string) {
			found := append(p.query(t, series), p.query(t, firing)...)
			return len(found) == 0, fmt.Sprint(found)
		})
		return fmt.Sprintf("the alert and %d series ended", shown)
	})
}
