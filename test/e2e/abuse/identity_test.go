//go:build e2e

package abuse

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// identityAbuses speak to the coordinator as a worker of another's run.
var identityAbuses = []abuse{
	{"a session without a token", coordinator, `want one "Bearer <token>"`, func(t *testing.T, p *people) attempt {
		return p.speak(t, p.hello(t, 0))
	}},
	{"a session with two tokens", coordinator, `want one "Bearer <token>"`, func(t *testing.T, p *people) attempt {
		return p.speak(t, p.hello(t, 0), "a.b.c", p.attacker.workersToken(t))
	}},
	{"a session with a word for a token", coordinator, "not a service account token", withToken("password")},
	{"a session with a token of one's own making", coordinator, "not found", func(t *testing.T, p *people) attempt {
		return p.speak(t, p.hello(t, 0), forge(t, "e30", p.victim.namespace, "worker-0", "1", time.Hour))
	}},
	{"a session with an expired token", coordinator, "the token has expired", func(t *testing.T, p *people) attempt {
		return p.speak(t, p.hello(t, 0), forge(t, "e30", p.victim.namespace, "worker-0", "1", -time.Hour))
	}},
	{"a session with a token for the API server", coordinator, "not for audience", func(t *testing.T, p *people) attempt {
		return p.speak(t, p.hello(t, 0), p.attacker.token(t, "", p.attacker.worker(t)))
	}},
	{"a session with a token of an account", coordinator, "not bound to a pod", func(t *testing.T, p *people) attempt {
		return p.speak(t, p.hello(t, 0), p.attacker.token(t, workerv1.Audience, nil))
	}},
	{"a session of a pod that no Job controls", coordinator, "does not belong to a Job", func(t *testing.T, p *people) attempt {
		return p.speakUntil(t, "does not belong to a Job", p.attacker.token(t, workerv1.Audience, p.attacker.pod(t, p.victim.uid(t), nil)))
	}},
	{"a session of a pod that names a Job of another namespace", coordinator, "not found", func(t *testing.T, p *people) attempt {
		job := p.victim.waiting(t)
		owner := metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: "1", Controller: ptr.To(true)}
		return p.speak(t, p.hello(t, 0), p.attacker.token(t, workerv1.Audience, p.attacker.pod(t, p.victim.uid(t), &owner)))
	}},
	{"a session of a Job that names another's LoadTest", coordinator, "Job ", func(t *testing.T, p *people) attempt {
		job := p.victim.waiting(t)
		return p.speakUntil(t, "Job ", p.attacker.token(t, workerv1.Audience, p.attacker.forgedWorker(t, job.OwnerReferences[0])))
	}},
	{"a session of a Job that names one's own LoadTest by another's UID", coordinator, "Job ", func(t *testing.T, p *people) attempt {
		owner := p.attacker.waiting(t).OwnerReferences[0]
		owner.UID = p.victim.waiting(t).OwnerReferences[0].UID
		return p.speakUntil(t, "Job ", p.attacker.token(t, workerv1.Audience, p.attacker.forgedWorker(t, owner)))
	}},
	{"a session of a pod that has taken a worker's name", coordinator, "was replaced", func(t *testing.T, p *people) attempt {
		before := p.attacker.pod(t, p.victim.uid(t), nil)
		token := p.attacker.token(t, workerv1.Audience, before)
		must.Succeed(t, p.attacker.editor.Delete(t.Context(), before, client.GracePeriodSeconds(0)))
		after := before.DeepCopy()
		after.ObjectMeta = metav1.ObjectMeta{Namespace: before.Namespace, Name: before.Name, Labels: before.Labels}
		after.Spec.NodeName = ""
		must.Succeed(t, cluster.Try(t.Context(), cluster.Patience, func(ctx context.Context) error { return p.attacker.editor.Create(ctx, after.DeepCopy()) }))
		return p.speakUntil(t, "was replaced", token)
	}},
	{"one's own worker's token, changed to another's", coordinator, "not valid for audience", func(t *testing.T, p *people) attempt {
		mine, theirs := p.attacker.workersToken(t), p.victim.worker(t)
		signature := mine[strings.LastIndexByte(mine, '.')+1:]
		return p.speak(t, p.hello(t, 0), forge(t, signature, theirs.Namespace, theirs.Name, string(theirs.UID), time.Hour))
	}},
	{"one's own worker's token for another's run", coordinator, "hello.run is", func(t *testing.T, p *people) attempt {
		return p.speak(t, p.hello(t, 0), p.attacker.workersToken(t))
	}},
	{"one's own worker's token for another worker", coordinator, "hello.worker is 1", func(t *testing.T, p *people) attempt {
		hello := p.hello(t, 1)
		hello.GetHello().Run = p.attacker.uid(t)
		return p.speak(t, hello, p.attacker.workersToken(t))
	}},
	{"a session of another protocol", coordinator, "hello.protocol is 99", func(t *testing.T, p *people) attempt {
		hello := p.hello(t, 0)
		hello.GetHello().Run, hello.GetHello().Protocol = p.attacker.uid(t), 99
		return p.speak(t, hello, p.attacker.workersToken(t))
	}},
	{"results before a hello", coordinator, "the first message of a session is hello", func(t *testing.T, p *people) attempt {
		snapshot := &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Snapshot{Snapshot: &workerv1.Snapshot{Final: true}}}
		return p.speak(t, snapshot, p.attacker.workersToken(t))
	}},
}

// withToken speaks with that token.
func withToken(token string) func(*testing.T, *people) attempt {
	return func(t *testing.T, p *people) attempt {
		t.Helper()
		return p.speak(t, p.hello(t, 0), token)
	}
}

// speakUntil speaks with the token of a pod that was just made, until it is refused with those
// words: the coordinator reads pods and Jobs some time after they are stored.
func (p *people) speakUntil(t *testing.T, words, token string) (got attempt) {
	t.Helper()
	_ = cluster.Try(t.Context(), cluster.Patience, func(context.Context) error { // what it says at last is judged
		if got = p.speak(t, p.hello(t, 0), token); got.by == "" || strings.Contains(got.words, words) {
			return nil
		}
		return errors.New(got.words)
	})
	return got
}

// hello is that of a worker of the victim.
func (p *people) hello(t *testing.T, worker int32) *workerv1.SessionRequest {
	t.Helper()
	return &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Hello{Hello: &workerv1.Hello{
		Run: p.victim.uid(t), Worker: worker, Protocol: workerv1.ProtocolVersion, Version: "abuse",
	}}}
}

// uid is that of the tenant's LoadTest that begins with a pause.
func (tn *tenant) uid(t *testing.T) string {
	t.Helper()
	return string(tn.waiting(t).OwnerReferences[0].UID)
}

// worker is the pod of that LoadTest's worker 0.
func (tn *tenant) worker(t *testing.T) *corev1.Pod {
	t.Helper()
	return tn.podOf(t, tn.waiting(t).Name)
}

// podOf is the pod of a Job's index 0.
func (tn *tenant) podOf(t *testing.T, job string) *corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	cluster.Soon(t, func(ctx context.Context) error {
		err := cluster.API.List(ctx, &pods, client.InNamespace(tn.namespace), client.MatchingLabels{batchv1.JobNameLabel: job})
		if err == nil && len(pods.Items) == 0 {
			err = fmt.Errorf("Job %s has no pod", job)
		}
		return err
	})
	return &pods.Items[0]
}

// token is one of the account of a pod, as an editor of the namespace may ask for it.
func (tn *tenant) token(t *testing.T, audience string, pod *corev1.Pod) string {
	t.Helper()
	request := tokenFor(audience, pod)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: "default"}}
	must.Succeed(t, tn.editor.SubResource("token").Create(t.Context(), account, request))
	return request.Status.Token
}

// workersToken is that of the tenant's own worker.
func (tn *tenant) workersToken(t *testing.T) string {
	t.Helper()
	return tn.token(t, workerv1.Audience, tn.worker(t))
}

// pod is one of the tenant's, with the label of a run, which no node takes.
func (tn *tenant) pod(t *testing.T, run string, owner *metav1.OwnerReference) *corev1.Pod {
	t.Helper()
	spec := tn.waiting(t).Spec.Template.Spec
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: tn.namespace, Name: tn.name(), Labels: map[string]string{"loadtest.dev/run": run, batchv1.JobCompletionIndexAnnotation: "0"},
			Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: "0"},
		},
		Spec: corev1.PodSpec{
			NodeSelector: nowhere, Containers: spec.Containers, SecurityContext: spec.SecurityContext, Volumes: spec.Volumes,
			RestartPolicy: corev1.RestartPolicyNever,
		},
	}
	if owner != nil {
		pod.OwnerReferences, pod.Finalizers = []metav1.OwnerReference{*owner}, keep
	}
	must.Succeed(t, tn.editor.Create(t.Context(), pod))
	t.Cleanup(func() { letGo(pod) })
	return pod
}

// keep is a finalizer that keeps an object when the garbage collector finds that its owner
// is not there.
var keep = []string{"abuse.example.com/keep"}

func letGo(object client.Object) {
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	_ = client.IgnoreNotFound(cluster.API.Patch(context.Background(), object, patch))
}

// forgedWorker is the pod of a Job that names a LoadTest as its controller. The garbage
// collector deletes such a Job: if it does so before the Job has its pod, which it then never
// gets, another is made.
func (tn *tenant) forgedWorker(t *testing.T, owner metav1.OwnerReference) *corev1.Pod {
	t.Helper()
	for range 20 {
		job := tn.forgedJob(t, owner)
		var pods corev1.PodList
		cluster.Soon(t, func(ctx context.Context) error {
			if err := cluster.API.List(ctx, &pods, client.InNamespace(tn.namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name}); err != nil {
				return err
			}
			if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
				return err
			}
			if len(pods.Items) == 0 && job.DeletionTimestamp == nil {
				return fmt.Errorf("no pod of Job %s is there", job.Name)
			}
			return nil
		})
		if len(pods.Items) > 0 {
			return &pods.Items[0]
		}
	}
	t.Fatal("no Job had its pod before it was deleted")
	return nil
}

// forgedJob is such a Job.
func (tn *tenant) forgedJob(t *testing.T, owner metav1.OwnerReference) *batchv1.Job {
	t.Helper()
	job := tn.waiting(t)
	run := map[string]string{"loadtest.dev/run": string(owner.UID)}
	job.ObjectMeta = metav1.ObjectMeta{
		Namespace: tn.namespace, Name: tn.name(), Labels: run,
		OwnerReferences: []metav1.OwnerReference{owner}, Finalizers: keep,
	}
	job.Spec.Template.Labels, job.Spec.Template.Spec.TopologySpreadConstraints = run, nil
	job.Spec.Template.Spec.NodeSelector = nowhere
	must.Succeed(t, tn.editor.Create(t.Context(), job))
	t.Cleanup(func() { letGo(job) })
	return job
}

// forge is a token that says to be bound to a pod.
func forge(t *testing.T, signature, namespace, pod, uid string, expires time.Duration) string {
	t.Helper()
	part := func(v map[string]any) string {
		raw, err := json.Marshal(v)
		must.Succeed(t, err)
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	return part(map[string]any{"alg": "RS256"}) + "." + part(map[string]any{
		"aud": []string{workerv1.Audience}, "exp": time.Now().Add(expires).Unix(),
		"kubernetes.io": map[string]any{"namespace": namespace, "pod": map[string]any{"name": pod, "uid": uid}},
	}) + "." + signature
}
