package chart_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	rulesFile = "files/rules.yaml"
	rulesTest = "testdata/rules_test.yaml"
	runbooks  = "../../docs/runbooks.md"
)

// promtool checks and tests rules as Prometheus reads them.
func promtool(t *testing.T, args ...string) (string, error) {
	t.Helper()
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("no promtool: run make deps, or apt-get install prometheus")
	}
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	return string(out), err
}

func readRules(t *testing.T) monitoringv1.PrometheusRuleSpec {
	t.Helper()
	var rules monitoringv1.PrometheusRuleSpec
	readYAML(t, rulesFile, &rules)
	return rules
}

func alerts(t *testing.T) []monitoringv1.Rule {
	t.Helper()
	var all []monitoringv1.Rule
	for _, group := range readRules(t).Groups {
		all = append(all, group.Rules...)
	}
	return all
}

func TestRulesAreValid(t *testing.T) {
	if out, err := promtool(t, "check", "rules", rulesFile); err != nil || !strings.Contains(out, "SUCCESS") {
		t.Errorf("promtool check rules: %v\n%s", err, out)
	}
}

func TestAlertsFireAndEnd(t *testing.T) {
	if out, err := promtool(t, "test", "rules", rulesTest); err != nil {
		t.Errorf("promtool test rules: %v\n%s", err, out)
	}
}

// The unit tests above notice every alert that does not fire.
func TestEveryAlertIsTested(t *testing.T) {
	text := must.ReadFile(t, rulesTest)
	folder := t.TempDir()
	text = bytes.ReplaceAll(text, []byte("../files/rules.yaml"), []byte("rules.yaml"))
	write(t, filepath.Join(folder, "test.yaml"), text)
	for _, alert := range alerts(t) {
		rules := readRules(t)
		for g := range rules.Groups {
			for r := range rules.Groups[g].Rules {
				if rule := &rules.Groups[g].Rules[r]; rule.Alert == alert.Alert {
					rule.Expr = intstr.FromString("vector(1) < 0")
				}
			}
		}
		changed, err := yaml.Marshal(rules)
		must.Succeed(t, err)
		write(t, filepath.Join(folder, "rules.yaml"), changed)
		if out, err := promtool(t, "test", "rules", filepath.Join(folder, "test.yaml")); err == nil || !strings.Contains(out, alert.Alert) {
			t.Errorf("without %s the tests say: %v\n%s", alert.Alert, err, out)
		}
	}
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	must.Succeed(t, os.WriteFile(file, text, 0o600))
}

// Each alert says in one place what to do, and each entry there is of an alert.
func TestEveryAlertHasARunbook(t *testing.T) {
	text := must.ReadFile(t, runbooks)
	var entries []string
	for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(text), -1) {
		entries = append(entries, heading[1])
	}
	const place = "https://github.com/loadtest-dev/loadtest-operator/blob/main/docs/runbooks.md#"
	for _, alert := range alerts(t) {
		if !slices.Contains(entries, alert.Alert) {
			t.Errorf("%s has no entry %q", runbooks, alert.Alert)
		}
		same.As(t, "runbook of "+alert.Alert, place+strings.ToLower(alert.Alert), alert.Annotations["runbook_url"])
		if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" || alert.Labels["severity"] == "" {
			t.Errorf("%s lacks a summary, a description or a severity", alert.Alert)
		}
		entries = slices.DeleteFunc(entries, func(e string) bool { return e == alert.Alert })
	}
	if len(entries) > 0 {
		t.Errorf("entries without an alert: %q", entries)
	}
}

// names are the metrics in expressions.
var names = regexp.MustCompile(`\bloadtest_[a-z0-9_]+`)

// Rules and the dashboard ask for what there is.
func TestOnlyKnownMetricsAreAskedFor(t *testing.T) {
	reference, err := os.ReadFile("../../docs/metrics.md") // which a test compares with the registry
	must.Succeed(t, err)
	asked := queries(t)
	for _, alert := range alerts(t) {
		asked = append(asked, alert.Expr.String())
	}
	found := 0
	for _, query := range asked {
		for _, name := range names.FindAllString(query, -1) {
			found++
			if name = strings.TrimSuffix(name, "_bucket"); !bytes.Contains(reference, []byte("| `"+name+"` |")) {
				t.Errorf("%s is no metric: %s", name, query)
			}
		}
	}
	if found < 30 {
		t.Errorf("found %d names of metrics in %d queries", found, len(asked))
	}
}
