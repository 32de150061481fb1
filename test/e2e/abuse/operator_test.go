//go:build e2e

package abuse

import (
	"context"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/deviation"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// operatorAbuses are what an attacker who has the operator's token would do with it.
var operatorAbuses = append(thefts, deviations()...)

// thefts are beyond the rights of the operator's account.
var thefts = []abuse{
	{"Secrets of a tenant, with the operator's token", rbac, "cannot list resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.operator(t).List(t.Context(), &corev1.SecretList{}, client.InNamespace(p.victim.namespace)))
	}},
	{"Secrets of its own namespace, with the operator's token", rbac, "cannot list resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.operator(t).List(t.Context(), &corev1.SecretList{}, client.InNamespace(cluster.OperatorNamespace)))
	}},
	{"a Secret of its own namespace by its name, with the operator's token", rbac, "cannot get resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.operator(t).Get(t.Context(), client.ObjectKey{Namespace: cluster.OperatorNamespace, Name: "registry"}, &corev1.Secret{}))
	}},
	{"a pod, with the operator's token", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.victim.namespace, Name: "a"}}
		pod.Spec.Containers = []corev1.Container{{Name: "a", Image: "a"}}
		return byAPI(t, p.operator(t).Create(t.Context(), pod, client.DryRunAll))
	}},
	{"another's Job, changed with the operator's token", rbac, "cannot update resource", func(t *testing.T, p *people) attempt {
		job := p.victim.waiting(t)
		job.Spec.Parallelism = ptr.To[int32](100)
		return byAPI(t, p.operator(t).Update(t.Context(), job, client.DryRunAll))
	}},
	{"a LoadTest, with the operator's token", admissionPolicy, "creates only LoadTests that a LoadTestSchedule, or a LoadTest with loads, controls", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.operator(t).Create(t.Context(), p.victim.loadTest(t, harmless), client.DryRunAll))
	}},
	{"a LoadTestSchedule, with the operator's token", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		s := &v1beta1.LoadTestSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: p.victim.namespace, Name: "nightly"}}
		return byAPI(t, p.operator(t).Create(t.Context(), s, client.DryRunAll))
	}},
	{"a better verdict for a run that has finished, with the operator's token", admissionPolicy, "does not change what is said of a LoadTest that has finished", func(t *testing.T, p *people) attempt {
		lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: p.victim.namespace, Name: p.victim.name()}}
		object := p.victim.loadTest(t, specWith("requests: [{name: a, http: {path: /, headers: [{name: A, valueFrom: {secret: {name: "+lt.Name+", key: k}}}]}}]"))
		object.SetName(lt.Name)
		must.Succeed(t, p.victim.editor.Create(t.Context(), object))
		cluster.Finish(t, lt)
		change := []byte(`{"status": {"verdict": "Passed"}}`)
		return byAPI(t, p.operator(t).Status().Patch(t.Context(), lt, client.RawPatch(types.MergePatchType, change), client.DryRunAll))
	}},
	{"a token that lasts, with the operator's token", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.operator(t).SubResource("token").Create(t.Context(), operatorAccount(), &authenticationv1.TokenRequest{}))
	}},
}

// deviations are within the rights of the operator's account.
func deviations() (all []abuse) {
	for _, d := range deviation.All() {
		all = append(all, abuse{d.Name, admissionPolicy, d.Words, func(t *testing.T, p *people) attempt {
			job, operator := p.victim.waiting(t), p.operator(t)
			// The Job itself would be taken, if it were not there.
			if err := operator.Create(t.Context(), job.DeepCopy(), client.DryRunAll); !apierrors.IsAlreadyExists(err) {
				t.Fatalf("a Job as the operator makes it: %v", err)
			}
			return byAPI(t, d.Try(t.Context(), operator, job, cluster.OperatorNamespace))
		}})
	}
	return all
}

func operatorAccount() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.OperatorNamespace, Name: "loadtest-operator"}}
}

// operator is a client with a token of the operator.
func (p *people) operator(t *testing.T) client.Client {
	t.Helper()
	p.once.Do(func() { p.stolen, p.problem = newOperator(t.Context()) })
	if p.problem != nil {
		t.Fatal(p.problem)
	}
	return p.stolen
}

func newOperator(ctx context.Context) (client.Client, error) {
	request := &authenticationv1.TokenRequest{}
	if err := cluster.API.SubResource("token").Create(ctx, operatorAccount(), request); err != nil {
		return nil, err
	}
	admin, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken, config.UserAgent = request.Status.Token, cluster.Theft
	config.QPS, config.Burst, config.WarningHandler = 100, 200, rest.NoWarnings{}
	return client.New(config, client.Options{Scheme: cluster.API.Scheme()})
}

// nowhere selects no node.
var nowhere = map[string]string{"no-such": "node"}

// waiting is the Job of a LoadTest that begins with a long pause, as it was created. A Job
// that no LoadTest controls is beside it.
func (tn *tenant) waiting(t *testing.T) *batchv1.Job {
	t.Helper()
	tn.once.Do(func() { tn.job, tn.problem = tn.newWaiting(t) })
	if tn.problem != nil {
		t.Fatal(tn.problem)
	}
	return tn.job.DeepCopy()
}

func (tn *tenant) newWaiting(t *testing.T) (*batchv1.Job, error) {
	ctx := context.WithoutCancel(t.Context()) // it outlives the abuse that is the first to need it
	lt := tn.loadTest(t, specWith("steps: [{name: pause 1h, pause: 1h}, {name: 1/s, rate: 1, duration: 1s}]"))
	if err := tn.editor.Create(ctx, lt); err != nil {
		return nil, err
	}
	job := &batchv1.Job{}
	err := cluster.Try(ctx, cluster.Patience, func(ctx context.Context) error {
		return cluster.API.Get(ctx, client.ObjectKeyFromObject(lt), job)
	})
	if err != nil {
		return nil, err
	}
	foreign := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: deviation.Foreign}, Spec: *job.Spec.DeepCopy()}
	foreign.Spec.Selector, foreign.Spec.Suspend, foreign.Spec.Template.Labels = nil, ptr.To(true), nil
	if err := tn.editor.Create(ctx, foreign); err != nil {
		return nil, err
	}
	// What the API server added is not the operator's.
	job.ObjectMeta = metav1.ObjectMeta{Name: job.Name, Namespace: job.Namespace, Labels: job.Labels, OwnerReferences: job.OwnerReferences}
	job.Spec.Selector, job.Status = nil, batchv1.JobStatus{}
	for _, label := range []string{batchv1.ControllerUidLabel, batchv1.JobNameLabel, "controller-uid", "job-name"} {
		delete(job.Spec.Template.Labels, label)
	}
	return job, nil
}
