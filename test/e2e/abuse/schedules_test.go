//go:build e2e

package abuse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// scheduleAbuses have a LoadTestSchedule, and by it the operator, do what its author may not.
var scheduleAbuses = []abuse{
	{"LoadTests by a schedule, without a right to create them", admissionPolicy, "written by those who may create LoadTests in namespace", func(t *testing.T, p *people) attempt {
		return p.attacker.schedule(t, p.attacker.scheduler(t, ""), harmless, "")
	}},
	{"another template, without a right to create LoadTests", admissionPolicy, "written by those who may create LoadTests in namespace", func(t *testing.T, p *people) attempt {
		return p.attacker.editsSchedule(t, p.attacker.scheduler(t, "edit"))
	}},
	{"a schedule by a viewer", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		return p.attacker.schedule(t, p.attacker.viewer, harmless, "")
	}},
	{"a schedule in another's namespace", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		return p.victim.schedule(t, p.attacker.editor, harmless, "")
	}},
	{"the status of a schedule", rbac, "loadtestschedules/status", func(t *testing.T, p *people) attempt {
		s := p.attacker.scheduleObject(t, harmless, "suspend: true")
		must.Succeed(t, p.attacker.editor.Create(t.Context(), s))
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"status": {"lastPassed": {"name": "mine"}}}`))
		return byAPI(t, p.attacker.editor.Status().Patch(t.Context(), s, patch))
	}},
	{"an address of the Internet, by a schedule", operator, "192.0.2.1", bySchedule(specWith("target: {url: 'http://192.0.2.1'}\nstartDeadlineSeconds: 30"), "")},
	{"more users than a step may have, by a schedule", operator, "200000 users are more than", bySchedule(specWith("steps: [{name: 200000 users, users: 200000, ratePerUser: '0.1', duration: 10s}]"), "")},
	{"more LoadTests than a quota, by a schedule", apiServer, "exceeded quota", func(t *testing.T, _ *people) attempt {
		tn := newTenant(t)
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: "none"}}
		quota.Spec.Hard = corev1.ResourceList{"count/loadtests.loadtest.dev": resource.MustParse("0")}
		must.Succeed(t, cluster.API.Create(t.Context(), quota))
		// The API server reads a quota, and what its controller has counted, some time later.
		cluster.Soon(t, func(ctx context.Context) error {
			err := tn.editor.Create(ctx, tn.loadTest(t, harmless), client.DryRunAll)
			if err == nil {
				return errors.New("the quota does not hold yet")
			} else if strings.Contains(err.Error(), "exceeded quota") {
				return nil
			}
			return err
		})
		return tn.schedule(t, tn.editor, harmless, "")
	}},
}

// bySchedule has an editor's schedule run a LoadTest with that spec.
func bySchedule(template, fields string) func(*testing.T, *people) attempt {
	return func(t *testing.T, p *people) attempt {
		t.Helper()
		return p.attacker.schedule(t, p.attacker.editor, template, fields)
	}
}

// scheduler may write schedules, and has no right to LoadTests.
func (tn *tenant) scheduler(t *testing.T, name string) client.Client {
	t.Helper()
	name = "scheduler" + name
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{v1beta1.GroupVersion.Group}, Resources: []string{"loadtestschedules"}, Verbs: []string{"create", "get", "patch"},
	}}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   cluster.ServiceAccount(tn.namespace, name),
	}
	for _, object := range []client.Object{role, binding} {
		must.Succeed(t, cluster.API.Create(t.Context(), object))
	}
	cluster.AwaitRules(t, tn.namespace, name, role.Rules)
	return tn.person(t, name)
}

// scheduleObject is a schedule of a new name that starts a LoadTest as soon as it is there.
func (tn *tenant) scheduleObject(t *testing.T, template, fields string) *unstructured.Unstructured {
	t.Helper()
	s := tn.loadTest(t, "onChange: true\n"+fields)
	s.SetKind("LoadTestSchedule")
	var spec map[string]any
	must.Succeed(t, yaml.Unmarshal([]byte(template), &spec))
	must.Succeed(t, unstructured.SetNestedMap(s.Object, map[string]any{"spec": spec}, "spec", "template"))
	return s
}

// schedule has a person create one, and waits until it is known what came of it. It is
// refused by the operator only if the LoadTest that it starts is.
func (tn *tenant) schedule(t *testing.T, person client.Client, template, fields string) attempt {
	t.Helper()
	object := tn.scheduleObject(t, template, fields)
	if err := person.Create(t.Context(), object); err != nil {
		return byAPI(t, err)
	}
	t.Cleanup(func() { _ = cluster.API.Delete(context.Background(), object) })
	s := &v1beta1.LoadTestSchedule{}
	var runs []v1beta1.LoadTest
	cluster.Soon(t, func(ctx context.Context) error {
		if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(object), s); err != nil {
			return err
		}
		if runs = cluster.RunsOf(t, s); len(runs) == 0 && !meta.IsStatusConditionFalse(s.Status.Conditions, v1beta1.ConditionReady) {
			return fmt.Errorf("nothing came of schedule %s: %+v", s.Name, s.Status)
		}
		return nil
	})
	if len(runs) > 0 {
		return tn.outcome(t, client.ObjectKeyFromObject(&runs[0]))
	}
	words := meta.FindStatusCondition(s.Status.Conditions, v1beta1.ConditionReady).Message
	if strings.Contains(words, "exceeded quota") {
		return refused(apiServer, words)
	}
	return refused(admissionPolicy, words)
}

// editsSchedule has a person change the template of an editor's schedule, after what
// they may do: to suspend it.
func (tn *tenant) editsSchedule(t *testing.T, person client.Client) attempt {
	t.Helper()
	s := tn.scheduleObject(t, harmless, "schedule: '0 0 1 1 *'\nonChange: false")
	must.Succeed(t, tn.editor.Create(t.Context(), s))
	t.Cleanup(func() { _ = cluster.API.Delete(context.Background(), s) })
	change := func(spec string) error {
		return person.Patch(t.Context(), s, client.RawPatch("application/merge-patch+json", []byte(`{"spec": `+spec+`}`)))
	}
	if err := change(`{"suspend": true}`); err != nil {
		t.Fatalf("it cannot be suspended: %v", err)
	}
	return byAPI(t, change(`{"template": {"spec": {"target": {"service": {"name": "other"}}}}}`))
}
