package targets

import (
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// selected are the workloads whose pods a selector selects.
func selected(pods map[string]corev1.PodTemplateSpec, selector map[string]string) []string {
	var found []string
	for key, pod := range pods {
		if len(selector) > 0 && labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found
}

// Each Service leads to one workload and to a port that its pods have, and each
// workload selects its own pods only.
func selectors(t *testing.T, r release) {
	pods := r.pods(t)
	for key, o := range r {
		switch o.GetKind() {
		case "Service":
			service := as[corev1.Service](t, r, key)
			to := selected(pods, service.Spec.Selector)
			if len(to) != 1 {
				t.Errorf("%s leads to %v, want one workload", key, to)
				continue
			}
			for _, port := range service.Spec.Ports {
				if !hasPort(pods[to[0]], port.TargetPort.StrVal) {
					t.Errorf("%s leads to port %q, which %s has not", key, port.TargetPort.StrVal, to[0])
				}
			}
		case "Deployment", "StatefulSet":
			selector, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
			same.As(t, key+" selects", []string{key}, selected(pods, selector))
		}
	}
}

func hasPort(pod corev1.PodTemplateSpec, name string) bool {
	return slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
}

// Every address that a container is given is a Service's, or that of a pod of a
// StatefulSet, at a port of it.
func addresses(t *testing.T, r release) {
	for key := range r.pods(t) {
		for name, value := range r.env(t, key) {
			if name != "POSTGRES_SHARDS" && name != "REDIS_ADDR" && name != "KAFKA_BROKERS" && name != "DATA_SOURCE_URI" {
				continue
			}
			value, _, _ = strings.Cut(value, "/")
			for address := range strings.SplitSeq(value, ",") {
				if problem := r.unreachable(t, address); problem != "" {
					t.Errorf("%s: %s=%s: %s", key, name, value, problem)
				}
			}
		}
	}
}

// unreachable says why there is nothing at an address.
func (r release) unreachable(t *testing.T, address string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err.Error()
	}
	name := host
	if pod, service, found := strings.Cut(host, "."); found {
		name = service
		set := as[appsv1.StatefulSet](t, r, "StatefulSet/"+pod[:strings.LastIndex(pod, "-")])
		last := fmt.Sprintf("%s-%d", set.Name, *set.Spec.Replicas-1)
		if set.Spec.ServiceName != service || pod > last {
			return fmt.Sprintf("%s has pods to %s, of the Service %s", set.Name, last, set.Spec.ServiceName)
		}
	}
	service := as[corev1.Service](t, r, "Service/"+name)
	if !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return fmt.Sprint(p.Port) == port }) {
		return "the Service has no such port"
	}
	return ""
}

// Passwords are in Secrets, and every key that a pod reads from a Secret exists.
func keptSecrets(t *testing.T, r release) {
	for key, pod := range r.pods(t) {
		secret := regexp.MustCompile(`PASS(WORD)?$|KEY$|TOKEN$`)
		for _, e := range pod.Spec.Containers[0].Env {
			if secret.MatchString(e.Name) && e.ValueFrom == nil {
				t.Errorf("%s: %s is there for all to see", key, e.Name)
			}
			if e.ValueFrom != nil {
				r.hasKey(t, key, e.ValueFrom.SecretKeyRef.Name, e.ValueFrom.SecretKeyRef.Key)
			}
		}
		for _, v := range pod.Spec.Volumes {
			if v.Secret == nil {
				continue
			}
			for _, item := range v.Secret.Items {
				r.hasKey(t, key, v.Secret.SecretName, item.Key)
			}
		}
	}
	r.leaks(t)
}

func (r release) hasKey(t *testing.T, of, name, key string) {
	t.Helper()
	if as[corev1.Secret](t, r, "Secret/"+name).StringData[key] == "" {
		t.Errorf("%s reads %s of the Secret %s, which has none", of, key, name)
	}
}

// leaks looks for each password in every object but its Secret.
func (r release) leaks(t *testing.T) {
	t.Helper()
	for key, o := range r {
		if o.GetKind() != "Secret" {
			continue
		}
		for name, password := range as[corev1.Secret](t, r, key).StringData {
			if !strings.HasSuffix(name, "password") && !strings.HasPrefix(name, "api-key") {
				continue
			}
			if len(password) < 32 {
				t.Errorf("%s: %s has %d characters, want 32", key, name, len(password))
			}
			for other, o := range r {
				if text, _ := json.Marshal(o.Object); other != key && strings.Contains(string(text), password) {
					t.Errorf("%s tells %s of %s", other, name, key)
				}
			}
		}
	}
}

// A component of several pods keeps all but one of them in a disruption, and a
// single pod may be evicted, as may one that is not ready.
func budgets(t *testing.T, r release) {
	for key, o := range r {
		replicas, found, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas")
		if !found {
			continue
		}
		_, has := r["PodDisruptionBudget/"+o.GetName()]
		if several := fmt.Sprint(replicas) != "1"; has != several {
			t.Errorf("%s has %v replicas, and a budget: %v", key, replicas, has)
		}
		if has {
			budget := as[policyv1.PodDisruptionBudget](t, r, "PodDisruptionBudget/"+o.GetName())
			if got := selected(r.pods(t), budget.Spec.Selector.MatchLabels); !slices.Equal(got, []string{key}) {
				t.Errorf("the budget of %s is that of %v", key, got)
			}
			if policy := budget.Spec.UnhealthyPodEvictionPolicy; policy == nil || *policy != policyv1.AlwaysAllow {
				t.Errorf("a pod of %s that is not ready blocks a drain: policy %v", key, policy)
			}
		}
	}
}

// Policies admit only the components that have the address.
func TestPoliciesAdmitOnlyWhoHasTheAddress(t *testing.T) {
	r := render(t, "--set", everything, "--set", "networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus")
	got := map[string]string{}
	for key, o := range r {
		if o.GetKind() != "NetworkPolicy" {
			continue
		}
		policy := as[networkingv1.NetworkPolicy](t, r, key)
		var callers []string
		for _, rule := range policy.Spec.Ingress {
			for _, peer := range rule.From {
				of := peer.PodSelector.MatchLabels
				callers = append(callers, of["app"]+of["app.kubernetes.io/component"])
			}
			to := selected(r.pods(t), policy.Spec.PodSelector.MatchLabels)
			if len(to) != 1 || len(rule.Ports) != len(r.pods(t)[to[0]].Spec.Containers[0].Ports) {
				t.Errorf("%s is about %v, ports %v", key, to, rule.Ports)
				continue
			}
			for _, port := range rule.Ports {
				if !hasPort(r.pods(t)[to[0]], port.Port.StrVal) {
					t.Errorf("%s is about port %v, which %v has not", key, port.Port, to)
				}
			}
		}
		got[o.GetName()] = strings.Join(callers, " ")
	}
	want := map[string]string{
		"ratelimiter-app": "nginx prometheus", "ratelimiter-redis": "app redis-exporter",
		"ratelimiter-redis-exporter": "prometheus", "shortener-redis-exporter": "prometheus", "shortener-postgres-exporter-0": "prometheus",
		"shortener-postgres-exporter-1": "prometheus", "shortener-postgres-exporter-2": "prometheus",
		"shortener-app": "nginx prometheus", "shortener-clicks": "prometheus",
		"shortener-pgbouncer-0": "app", "shortener-pgbouncer-1": "app", "shortener-pgbouncer-2": "app",
		"shortener-postgres": "seed clicks pgbouncer-0 pgbouncer-1 pgbouncer-2 postgres-exporter-0 postgres-exporter-1 postgres-exporter-2",
		"shortener-redis":    "app clicks seed redis-exporter", "shortener-kafka": "app clicks",
	}
	same.As(t, "callers", want, got)
}

// Policies are there unless they are switched off.
func TestNetworkPoliciesByDefault(t *testing.T) {
	if _, found := render(t)["NetworkPolicy/ratelimiter-redis"]; !found {
		t.Error("every pod may reach the limiter's Redis")
	}
	for key := range render(t, "--set", everything+",networkPolicy.enabled=false") {
		if strings.HasPrefix(key, "NetworkPolicy/") {
			t.Errorf("there is %s", key)
		}
	}
}

// Prometheus reads each replica once, and no Nginx.
func TestPrometheusReadsEachReplicaOnce(t *testing.T) {
	with := render(t, "--set", everything+`,serviceMonitor.labels.release=prometheus,serviceMonitor.labels.app\.kubernetes\.io/part-of=shop`, "--api-versions", "monitoring.coreos.com/v1")
	services := map[string][]string{}
	for key, o := range with {
		if o.GetKind() != "ServiceMonitor" {
			continue
		}
		if o.GetLabels()["release"] != "prometheus" {
			t.Errorf("%s lacks the label by which Prometheus finds it", key)
		}
		selector, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
		for _, s := range with {
			if s.GetKind() == "Service" && labels.SelectorFromSet(selector).Matches(labels.Set(s.GetLabels())) {
				services[o.GetName()] = append(services[o.GetName()], s.GetName())
			}
		}
	}
	want := map[string][]string{
		"ratelimiter-app": {"ratelimiter-app"}, "shortener-app": {"shortener-app"},
		"shortener-clicks": {"shortener-clicks"}, "eventstore-app": {"eventstore-app"}, "tokens-app": {"tokens-app"},
		"ratelimiter-redis-exporter": {"ratelimiter-redis-exporter"}, "shortener-redis-exporter": {"shortener-redis-exporter"},
		"shortener-postgres-exporter-0": {"shortener-postgres-exporter-0"}, "shortener-postgres-exporter-1": {"shortener-postgres-exporter-1"},
		"shortener-postgres-exporter-2": {"shortener-postgres-exporter-2"},
	}
	same.As(t, "Services that are scraped", want, services)
	for name, args := range map[string][]string{
		"no operator":  {"--set", everything},
		"switched off": {"--set", everything + ",serviceMonitor.enabled=false", "--api-versions", "monitoring.coreos.com/v1"},
	} {
		for key := range render(t, args...) {
			if strings.HasPrefix(key, "ServiceMonitor/") {
				t.Errorf("%s: there is %s", name, key)
			}
		}
	}
}
