package chart_test

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// person is a client of an account with rights on kinds of loadtest.dev.
func person(t *testing.T, namespace, name string, may map[string][]string) client.Client {
	t.Helper()
	admin, meta := apiserver.Client(t), metav1.ObjectMeta{Namespace: namespace, Name: name}
	role := &rbacv1.Role{ObjectMeta: meta}
	for resource, verbs := range may {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{v1beta1.GroupVersion.Group}, Resources: []string{resource}, Verbs: verbs})
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
	}
	for _, object := range []client.Object{role, binding} {
		must.Succeed(t, admin.Create(t.Context(), object))
	}
	for resource, verbs := range may {
		for _, verb := range verbs {
			apiserver.AwaitAccess(t, apiserver.Client(t), authorizationv1.SubjectAccessReviewSpec{User: name, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Group: v1beta1.GroupVersion.Group, Resource: resource, Verb: verb,
			}})
		}
	}
	config := apiserver.Config(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: apiserver.Scheme(t)})
	must.Succeed(t, err)
	return c
}

// TestSchedulesGiveNoRightToLoadTests: who may write schedules alone may neither create one
// nor have one start another LoadTest, and may suspend it.
func TestSchedulesGiveNoRightToLoadTests(t *testing.T) {
	namespace := apiserver.Namespace(t)
	schedules := []string{"create", "get", "update"}
	scheduler := person(t, namespace, "scheduler", map[string][]string{"loadtestschedules": schedules})
	author := person(t, namespace, "author", map[string][]string{"loadtestschedules": schedules, "loadtests": {"create"}})
	s := &v1beta1.LoadTestSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "nightly"}}
	s.Spec.Schedule, s.Spec.Template.Spec = "@daily", loadTest(t, namespace, "target: {service: {name: shop}}").Spec
	installSchedulePolicy(t, scheduler, s)

	if err := author.Create(t.Context(), s); err != nil {
		t.Fatalf("who may create LoadTests may not schedule them: %v", err)
	}
	for name, change := range map[string]func(*v1beta1.LoadTestScheduleSpec){
		"another template": func(s *v1beta1.LoadTestScheduleSpec) { s.Template.Spec.Target.Service.Name = "other" },
		"another template, suspended": func(s *v1beta1.LoadTestScheduleSpec) {
			s.Suspend, s.Template.Spec.Target.Service.Name = true, "other"
		},
		"more often": func(s *v1beta1.LoadTestScheduleSpec) { s.Schedule = "* * * * *" },
	} {
		changed := s.DeepCopy()
		change(&changed.Spec)
		if err := scheduler.Update(t.Context(), changed, client.DryRunAll); !forbidden(err) {
			t.Errorf("%s: %v", name, err)
		}
		must.Report(t, name+", by the author", author.Update(t.Context(), changed, client.DryRunAll))
	}
	s.Labels = map[string]string{"team": "shop"}
	s.Spec.Suspend = true
	must.Report(t, "it cannot be suspended", scheduler.Update(t.Context(), s))
	s.Spec.Suspend = false
	if err := scheduler.Update(t.Context(), s); !forbidden(err) {
		t.Errorf("it can be resumed: %v", err)
	}
}

func forbidden(err error) bool {
	return err != nil && strings.Contains(err.Error(), "written by those who may create LoadTests in namespace")
}

// installSchedulePolicy has the server enforce the policy, and waits until it refuses a
// schedule.
func installSchedulePolicy(t *testing.T, scheduler client.Client, s *v1beta1.LoadTestSchedule) {
	t.Helper()
	enforce(t, render(t), func(o *unstructured.Unstructured) bool { return o.GetName() == release+"-schedules" })
	await.True(t, "the policy is in force", func() bool {
		return forbidden(scheduler.Create(t.Context(), s.DeepCopy(), client.DryRunAll))
	})
}
