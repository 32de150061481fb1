package chart_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/deviation"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestOperatorWritesOnlyWhatLoadTestsNeed holds the operator's account to the policies of
// the chart, though it has every right in the cluster.
func TestOperatorWritesOnlyWhatLoadTestsNeed(t *testing.T) {
	admin := apiserver.Client(t)
	own := apiserver.Namespace(t)
	job := operatorsJob(t, admin, apiserver.Namespace(t))
	installPolicies(t, own)
	operator := account(t, own)
	awaitPolicies(t, operator, own)

	for _, d := range deviation.All() {
		t.Run(d.Name, func(t *testing.T) {
			err := d.Try(t.Context(), operator, job, own)
			if err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") || !strings.Contains(err.Error(), d.Words) {
				t.Errorf("it is not refused by a policy with %q: %v", d.Words, err)
			}
		})
	}
	t.Run("a pod, for which it has no other use", func(t *testing.T) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: "a"}, Spec: bare.Template.Spec}
		err := operator.Create(t.Context(), pod, client.DryRunAll)
		must.Say(t, err, "may not CREATE /pods a")
	})
}

// TestOperatorWritesWhatLoadTestsNeed has every Job of the operator's tests.
func TestOperatorWritesWhatLoadTestsNeed(t *testing.T) {
	admin := apiserver.Client(t)
	own, namespace := apiserver.Namespace(t), apiserver.Namespace(t)
	// Without it, no pod has a label of another (test/deviation).
	installPolicies(t, own, "--set-json", `config={"workers": [{"labelKeys": ["team"], "annotationKeys": ["linkerd.io/*"], "priorityClasses": ["load"]}]}`)
	operator := account(t, own)
	awaitPolicies(t, operator, own)

	files, err := filepath.Glob("../../controllers/loadtest/desired/testdata/job-*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("there are %d golden Jobs (%v)", len(files), err)
	}
	for _, file := range files {
		job := reviewed(t, file, namespace)
		must.Report(t, file+" is refused", operator.Create(t.Context(), job, client.DryRunAll))
		must.Report(t, fmt.Sprintf("the results of %s are refused", file), operator.Create(t.Context(), deviation.Results(job), client.DryRunAll))
	}
	must.Report(t, "the LoadTest of a schedule is refused", operator.Create(t.Context(), deviation.Scheduled(namespace)))
	must.Report(t, "the LoadTest of a load is refused", operator.Create(t.Context(), deviation.OfLoad(namespace)))
	must.Report(t, "deleting the LoadTest of a schedule is refused", operator.Delete(t.Context(), deviation.Scheduled(namespace)))
	for _, name := range []string{release + "-coordinator", "another"} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: name}}
		if err := operator.Create(t.Context(), secret, client.DryRunAll); (err == nil) != (name != "another") {
			t.Errorf("Secret %s: %v", name, err)
		}
	}
	// Others are not held to it.
	must.Report(t, "a Secret of the administrator is refused", admin.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "another"}}, client.DryRunAll))
}

// The policy lets the operator mount the Secrets that the configuration lets LoadTests use, in each
// namespace by its first rule.
func TestOperatorMountsTheSecretsOfTheRules(t *testing.T) {
	own, some, none, all, other := apiserver.Namespace(t), apiserver.Namespace(t), apiserver.Namespace(t), apiserver.Namespace(t), apiserver.Namespace(t)
	config := fmt.Sprintf(`workers: [{namespaces: [%s], secrets: ["api", "shop.*-key"]}, {namespaces: [%s], secrets: []}, {namespaces: [%s], secrets: ["*"]}, {images: ["a/*"]}]`,
		some, none, all[:len(all)-1]+"*")
	asJSON, err := yaml.YAMLToJSON([]byte(config))
	must.Succeed(t, err)
	rules, err := policy.Load([]byte(config))
	must.Succeed(t, err)
	installPolicies(t, own, "--set-json", "config="+string(asJSON))
	operator := account(t, own)
	awaitPolicies(t, operator, own)

	allowed := 0
	for _, namespace := range []string{some, none, all, other, own} {
		workers := rules.For(namespace).Workers
		workers.OperatorsOwn = namespace == own
		for _, name := range []string{"api", "api2", "shop.a-key", "shopxa-key", "loadtest-", "loadtest-api", "a-loadtest-"} {
			job := reviewed(t, "../../controllers/loadtest/desired/testdata/job-default.yaml", namespace)
			key := &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: []corev1.KeyToPath{{Key: "a", Path: "a"}}}
			volumes := &job.Spec.Template.Spec.Volumes
			*volumes = append(*volumes, corev1.Volume{Name: "more", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{Secret: key}}}}})
			want := workers.Secret(name)
			if want {
				allowed++
			}
			if err := operator.Create(t.Context(), job, client.DryRunAll); (err == nil) != want {
				t.Errorf("Secret %s in %s: %v; that the configuration allows it: %t", name, namespace, err, want)
			}
		}
	}
	same.As(t, "Secrets that are allowed", 2+0+7+2, allowed)
}

// What a run has come to cannot be changed with the operator's rights; where its results are kept
// can be said afterwards.
func TestOperatorDoesNotChangeARunThatHasFinished(t *testing.T) {
	admin, own, namespace := apiserver.Client(t), apiserver.Namespace(t), apiserver.Namespace(t)
	installPolicies(t, own)
	operator := account(t, own)
	awaitPolicies(t, operator, own)
	lt := deviation.Scheduled(namespace)
	lt.OwnerReferences = nil
	must.Succeed(t, admin.Create(t.Context(), lt))
	condition := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: "Tested", LastTransitionTime: metav1.Now().Rfc3339Copy()}
	}
	now := metav1.Now().Rfc3339Copy()
	lt.Status.StartTime, lt.Status.Verdict = &now, v1beta1.VerdictFailed
	lt.Status.Steps = []v1beta1.StepStatus{{Name: "1 users x 1", Rung: 1, Repetition: 1, State: v1beta1.StepComplete}}
	must.Succeed(t, operator.Status().Update(t.Context(), lt.DeepCopy()))
	must.Succeed(t, admin.Get(t.Context(), client.ObjectKeyFromObject(lt), lt))
	lt.Status.CompletionTime, lt.Status.Verdict = &now, v1beta1.VerdictPassed // it is judged
	lt.Status.Conditions = []metav1.Condition{condition(v1beta1.ConditionFinished, metav1.ConditionTrue), condition(v1beta1.ConditionPassed, metav1.ConditionFalse)}
	must.Succeed(t, operator.Status().Update(t.Context(), lt))

	later := metav1.NewTime(now.Add(time.Hour))
	for what, change := range map[string]func(*v1beta1.LoadTestStatus){
		"another verdict": func(s *v1beta1.LoadTestStatus) { s.Verdict = v1beta1.VerdictFailed },
		"no verdict":      func(s *v1beta1.LoadTestStatus) { s.Verdict = "" },
		"another step":    func(s *v1beta1.LoadTestStatus) { s.Steps[0].State = v1beta1.StepCut },
		"no step":         func(s *v1beta1.LoadTestStatus) { s.Steps = nil },
		"another result":  func(s *v1beta1.LoadTestStatus) { s.Steps[0].Result = &v1beta1.StepResult{Due: 1} },
		"another archive": func(s *v1beta1.LoadTestStatus) {
			s.ResultRefs = []v1beta1.ResultRef{{Step: "1 users x 1", ConfigMap: "a"}}
		},
		"another start":    func(s *v1beta1.LoadTestStatus) { s.StartTime = &later },
		"another end":      func(s *v1beta1.LoadTestStatus) { s.CompletionTime = &later },
		"that it passed":   func(s *v1beta1.LoadTestStatus) { s.Conditions[1].Status = metav1.ConditionTrue },
		"why it failed":    func(s *v1beta1.LoadTestStatus) { s.Conditions[1].Message = "The network." },
		"a condition less": func(s *v1beta1.LoadTestStatus) { s.Conditions = s.Conditions[:1] },
		"a condition more": func(s *v1beta1.LoadTestStatus) {
			s.Conditions = append(s.Conditions, condition("Approved", metav1.ConditionTrue))
		},
		"a kept threshold": func(s *v1beta1.LoadTestStatus) {
			s.Thresholds = []v1beta1.ThresholdStatus{{Name: "p95", State: v1beta1.ThresholdPassed}}
		},
		"another cause":       func(s *v1beta1.LoadTestStatus) { s.Why = "The network." },
		"a higher goodput":    func(s *v1beta1.LoadTestStatus) { s.Summary.Goodput = "9999/s" },
		"another target":      func(s *v1beta1.LoadTestStatus) { s.TargetURL = "http://other" },
		"that it goes on":     func(s *v1beta1.LoadTestStatus) { s.Conditions[0].Status = metav1.ConditionFalse },
		"nothing at all":      func(s *v1beta1.LoadTestStatus) { *s = v1beta1.LoadTestStatus{} },
		"no condition at all": func(s *v1beta1.LoadTestStatus) { s.Conditions = nil },
	} {
		changed := lt.DeepCopy()
		change(&changed.Status)
		if err := operator.Status().Update(t.Context(), changed, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "does not change what is said of a LoadTest that has finished") {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Each field of the status is compared, or says nothing of what was measured.
	text := must.ReadFile(t, "../../config/admission/jobs.yaml")
	rule := strings.Join(strings.Fields(string(text)), " ")
	for field := range reflect.TypeFor[v1beta1.LoadTestStatus]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		said := slices.Contains([]string{"observedGeneration", "conditions", "currentStep", "workers", "internal"}, name)
		if compared := strings.Contains(rule, "object.status.?"+name+" == oldObject.status.?"+name+" "); compared == said {
			t.Errorf("status.%s is compared: %t", name, compared)
		}
	}
	kept := lt.DeepCopy()
	kept.Status.Conditions = append(kept.Status.Conditions, condition(v1beta1.ConditionArchived, metav1.ConditionTrue))
	must.Report(t, "that the results are kept is refused", operator.Status().Update(t.Context(), kept, client.DryRunAll))
}

// installPolicies has the server enforce the policies of a chart in a namespace.
func installPolicies(t *testing.T, own string, args ...string) {
	t.Helper()
	objects, err := helm(t, release, append([]string{"--namespace", own}, args...)...)
	must.Succeed(t, err)
	n := enforce(t, objects, func(o *unstructured.Unstructured) bool {
		return strings.HasPrefix(o.GetKind(), "ValidatingAdmissionPolicy") && !slices.Contains([]string{release + "-targets", release + "-schedules"}, o.GetName())
	})
	same.As(t, "objects of policies for the operator", 6, n)
}

// enforce creates the objects that meant selects, and returns how many there are. It deletes them
// when the test ends.
func enforce(t *testing.T, objects []unstructured.Unstructured, meant func(*unstructured.Unstructured) bool) (n int) {
	t.Helper()
	admin := apiserver.Client(t)
	for _, object := range objects {
		if meant(&object) {
			n++
			must.Succeed(t, admin.Create(t.Context(), &object))
			t.Cleanup(func() { _ = admin.Delete(context.Background(), &object) })
		}
	}
	return n
}

// account is a client of the operator's account, which has every right.
func account(t *testing.T, own string) client.Client {
	t.Helper()
	admin := apiserver.Client(t)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "everything-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: own, Name: release}},
	}
	must.Succeed(t, admin.Create(t.Context(), binding))
	config := apiserver.Config(t)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + own + ":" + release,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + own, "system:authenticated"},
	}
	c, err := client.New(config, client.Options{Scheme: apiserver.Scheme(t)})
	must.Succeed(t, err)
	return c
}

// bare is a Job that is none of the operator's.
var bare = batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
	RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "a", Image: "a"}},
}}}

// awaitPolicies waits until every policy refuses what it must: the server reads policies
// after it has stored them.
func awaitPolicies(t *testing.T, operator client.Client, own string) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: own, Name: "tried"}
	tries := []client.Object{&corev1.Pod{ObjectMeta: meta, Spec: bare.Template.Spec}, &batchv1.Job{ObjectMeta: meta, Spec: bare}, &corev1.ConfigMap{ObjectMeta: meta}}
	await.Until(t, "the policies are in force", func() error {
		for _, o := range tries {
			err := operator.Create(t.Context(), o.DeepCopyObject().(client.Object), client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
				return fmt.Errorf("a %T: %w", o, cmp.Or(err, errors.New("it is taken")))
			}
		}
		return nil
	})
}

// operatorsJob is a Job as the operator creates it, of a LoadTest that is there; a
// foreign Job is beside it.
func operatorsJob(t *testing.T, admin client.Client, namespace string) *batchv1.Job {
	t.Helper()
	job := reviewed(t, "../../controllers/loadtest/desired/testdata/job-files.yaml", namespace)
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: job.Name}}
	must.Succeed(t, yaml.Unmarshal([]byte("{target: {service: {name: a}}, requests: [{name: home, http: {path: /}}], steps: [{name: 1/s, rate: 1, duration: 1s}]}"), &lt.Spec))
	foreign := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: deviation.Foreign}, Spec: *job.Spec.DeepCopy()}
	for _, object := range []client.Object{lt, foreign} {
		if err := admin.Create(t.Context(), object); err != nil {
			t.Fatal(fmt.Errorf("create %T: %w", object, err))
		}
	}
	return job
}

// reviewed reads a Job that controllers/loadtest/desired makes, from one of its golden files.
func reviewed(t *testing.T, file, namespace string) *batchv1.Job {
	t.Helper()
	text := must.ReadFile(t, file)
	job := &batchv1.Job{}
	must.Succeed(t, yaml.UnmarshalStrict(text, job))
	job.Namespace = namespace
	return job
}
