// The race detector looks at the tests of this file, too: a stop is waited for while runs end.

package command_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	configv1 "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// begun is the status of a run that goes on.
var begun = strings.Replace(running, "{phase: Running", `{phase: Running, startTime: "2020-11-20T10:15:00Z"`, 1)

const byConfig = "targets:\n  never: [10.0.0.0/24]\n"

// newAdministrator is a user whose namespace has the operator's ConfigMap.
func newAdministrator(t *testing.T) *testUser {
	t.Helper()
	p := newTestUser(t)
	cm := &corev1.ConfigMap{Data: map[string]string{"config.yaml": byConfig}}
	cm.Namespace, cm.Name = p.namespace, "config"
	must.Succeed(t, p.client.Create(t.Context(), cm))
	return p
}

// at are the arguments that say where the ConfigMap is.
func (p *testUser) at(args ...string) []string {
	return append(args, "--operator-namespace", p.namespace, "--config-map", "config")
}

// stops are those of the switch, as the operator reads them.
func (p *testUser) stops() []configv1.Stop {
	p.t.Helper()
	cm := &corev1.ConfigMap{}
	must.Succeed(p.t, p.client.Get(p.t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "config"}, cm))
	if _, err := policy.Next(nil, cm.Data); err != nil {
		p.t.Errorf("the operator does not take it: %v", err)
	}
	if cm.Data["config.yaml"] != byConfig {
		p.t.Errorf("the configuration was changed to %q", cm.Data["config.yaml"])
	}
	var s configv1.Switch
	must.Succeed(p.t, yaml.UnmarshalStrict([]byte(cm.Data["stop.yaml"]), &s))
	return s.Stops
}

func TestStopSetsTheSwitchAndWaits(t *testing.T) {
	p := newAdministrator(t)
	p.create(begun)
	p.createNamed("over", finished("Passed"))
	p.createNamed("waits", `{phase: Suspended}`)
	out := &screen{await: "Type yes", then: func() {}}
	go func() {
		w, err := p.client.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(p.namespace))
		if err != nil {
			return
		}
		defer w.Stop()
		for event := range w.ResultChan() {
			if cm, ok := event.Object.(*corev1.ConfigMap); ok && cm.Data["stop.yaml"] != "" {
				// The run may have ended when the plugin lists the runs.
				ended := fmt.Sprintf("{completionTime: %q, ", time.Now().UTC().Format(time.RFC3339)) + strings.TrimPrefix(finished("Canceled"), "{")
				if err := setStatus(t.Context(), p.client, p.get("hello"), ended); err != nil {
					t.Error(err)
				}
				return
			}
		}
	}()
	got := p.execute(t.Context(), out, "yes\n", p.at("stop", "--all", "-n", p.namespace, "--reason", "incident 4711")...)
	got.exits(t, 0)
	contains(t, "the output", got.out, "Runs of namespace "+p.namespace+" are stopped by ", "LoadTest "+p.namespace+"/hello ended after ", "s, Canceled: That was it.\n", "No run goes on.\n")
	if strings.Contains(got.out, "over") || strings.Contains(got.out, "waits") {
		t.Errorf("it tells of runs that do not go on:\n%s", got.out)
	}
	stops := p.stops()
	if len(stops) != 1 || stops[0].Reason != "incident 4711" || stops[0].By == "" || stops[0].Since == nil || len(stops[0].Namespaces) != 1 || stops[0].Namespaces[0] != p.namespace {
		t.Errorf("the switch: %+v", stops)
	}
	if lt := p.get("waits"); lt.Spec.Terminate {
		t.Error("a run that has not begun is terminated")
	}
}

func TestStopSaysWhatHasNotEnded(t *testing.T) {
	p := newAdministrator(t)
	p.create(begun)
	got := p.run(p.at("stop", "--all", "-n", p.namespace, "--yes", "--timeout", "300ms")...)
	if got.code != 1 || !strings.Contains(got.err, "LoadTest "+p.namespace+"/hello has not ended: is the operator running") {
		t.Errorf("exit code %d, %s", got.code, got.err)
	}
}

func TestSwitchIsShownAndTakenBack(t *testing.T) {
	p := newAdministrator(t)
	if got := p.run(p.at("stop", "--status")...); got.code != 0 || got.out != "No run is stopped.\n" {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.err)
	}
	for _, args := range [][]string{{"-n", p.namespace, "--reason", "first"}, {"-n", p.namespace, "--reason", "second"}, {"-n", "shop"}} {
		if got := p.run(p.at(append([]string{"stop", "--all", "--yes"}, args...)...)...); got.code != 0 {
			t.Fatalf("exit code %d, %s", got.code, got.err)
		}
	}
	if stops := p.stops(); len(stops) != 2 || stops[0].Reason != "second" {
		t.Errorf("the switch has %+v, want one stop for each namespace", stops)
	}
	got := p.run(p.at("stop", "--status")...)
	contains(t, "the state", got.out, "namespace "+p.namespace+": stopped by ", ": second (stop.yaml)\n", "namespace shop: stopped by ")
	if got := p.run(p.at("resume", "--all", "-n", p.namespace)...); got.code != 0 || !strings.HasPrefix(got.out, "namespace shop: stopped by ") {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.err)
	}
	if got := p.run(p.at("resume", "--all")...); got.code != 0 || got.out != "No run is stopped.\n" || len(p.stops()) != 0 {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.err)
	}
}

func TestStopIsConfirmed(t *testing.T) {
	p := newAdministrator(t)
	for _, answer := range []string{"", "no\n", "y\n"} {
		got := p.execute(t.Context(), &screen{}, answer, p.at("stop", "--all")...)
		if got.code != 4 || !strings.Contains(got.err, "End all LoadTests of every namespace, and let none begin? Type yes: ") || len(p.stops()) != 0 {
			t.Errorf("%q: exit code %d, %s", answer, got.code, got.err)
		}
	}
}

func TestStopRefuses(t *testing.T) {
	p := newAdministrator(t)
	for want, args := range map[string][]string{
		"give --all to stop runs, or --status":               {"stop"},
		"give --all to stop runs, or":                        {"stop", "--all", "--status"},
		"must not be negative":                               {"stop", "--all", "--timeout", "-3s"},
		"give --all; a LoadTest that spec.suspend holds":     {"resume"},
		"does not exist: say with --operator-namespace and":  {"stop", "--all", "--yes", "--operator-namespace", p.namespace, "--config-map", "other"},
		"the switch cannot be set: ":                         p.at("stop", "--all", "--yes", "--as", "tenant"),
		"the switch cannot be taken back: ":                  p.at("resume", "--all", "--as", "tenant"),
		"the switch cannot be read: ":                        p.at("stop", "--status", "--as", "tenant"),
		"the runs of a namespace with --namespace":           p.at("stop", "--all", "--yes", "--as", "tenant"),
		"condition Suspended of a waiting LoadTest":          p.at("stop", "--status", "--as", "tenant"),
		"key stop.yaml of ConfigMap " + p.namespace + "/bad": {"stop", "--status", "--operator-namespace", p.namespace, "--config-map", "bad"},
	} {
		if strings.HasPrefix(want, "key") {
			p.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, data: {stop.yaml: '['}}")
		}
		p.run(args...).fails(t, want)
	}
	if len(p.stops()) != 0 {
		t.Error("the switch is set")
	}
}

// Without the right to the switch, the runs of a namespace are ended one by one.
func TestStopFallsBackToTerminate(t *testing.T) {
	p := newAdministrator(t)
	p.apply(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: tests}, rules: [{apiGroups: [loadtest.dev], resources: [loadtests], verbs: [get, list, watch, patch]}]}`)
	p.apply(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: tests}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tests},
		subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]}`)
	apiserver.AwaitAccess(t, apiserver.Client(t), authorizationv1.SubjectAccessReviewSpec{User: "tenant", ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: p.namespace, Group: v1beta1.GroupVersion.Group, Resource: "loadtests", Verb: "patch",
	}})
	p.create(begun)
	p.createNamed("waits", `{phase: Suspended}`)
	p.createNamed("over", finished("Passed"))
	got := p.run(p.at("stop", "--all", "-n", p.namespace, "--yes", "--as", "tenant", "--timeout", "1s")...)
	got.exits(t, 1)
	contains(t, "the output", got.err, "The switch cannot be set: ", "is ended by spec.terminate instead; others can begin.", "/hello has not ended", "/waits has not ended")
	for name, want := range map[string]bool{"hello": true, "waits": true, "over": false} {
		if lt := p.get(name); lt.Spec.Terminate != want || name == "over" && lt.Status.Verdict != v1beta1.VerdictPassed {
			t.Errorf("%s: terminated %t, want %t", name, lt.Spec.Terminate, want)
		}
	}
	if len(p.stops()) != 0 {
		t.Error("the switch is set")
	}
}
