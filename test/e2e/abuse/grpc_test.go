//go:build e2e

package abuse

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// grpcAbuses are tried with calls of gRPC: by what is sent with them, by descriptors, and by
// a target that answers them.
func grpcAbuses() []abuse {
	return []abuse{
		{"a message of a megabyte", operator, "spec.requests[0].grpc.message: must have at most 65536 bytes", applies(calling("message: {a: " + strings.Repeat("x", 1_000_000) + "}"))},
		{"a Secret in the place of descriptors, to have it quoted", operator, "is not a descriptor set of protobuf", quotesASecret},
		{"a Secret that is not for load tests, in a header", operator, "its use is not allowed in namespace", sendsAnotherSecret},
		{"a Secret in a header that the target sends back, to have it quoted", operator, "spec.expose: Responses is not allowed", quotesASentSecret},
		{"descriptors that take longer than there is time", operator, "it leads to public imports in more than 32768 ways", importsWithoutEnd},
		{"a question of gRPC to another team's Service", operator, "does not accept load from others", asksTheVictim},
		{"a status of gRPC with escapes and markup", worker, "status 7 PERMISSION_DENIED", saysMarkup},
		{"a health service that never answers", worker, "timeout", asksTheHostile("silent")},
		{"a health service whose reply has no end", worker, "timeout", asksTheHostile("endless")},
	}
}

// applies runs a LoadTest with these fields.
func applies(fields string) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		return people.attacker.apply(t, specWith(fields+"\nstartDeadlineSeconds: 60"))
	}
}

// calling are the fields of a spec with a call, of which some are given.
func calling(call string) string {
	if !strings.HasPrefix(call, "method:") {
		call = "method: shop.v1.Cart/Add, " + call
	}
	return described("configMap: {name: protos, key: shop.binpb}") + "\nrequests: [{name: call, grpc: {" + call + "}}]"
}

// describedBy are those of one with descriptors from a source.
func describedBy(source string) string {
	return described(source) + "\nrequests: [{name: add, grpc: {method: shop.v1.Cart/Add}}]"
}

func described(source string) string {
	return "target: {service: {name: api}, protocol: HTTP/2, grpc: {descriptorsFrom: {" + source + "}}}"
}

// quotesASecret has a worker read a Secret that the author of a LoadTest may not read, and
// permits it to quote what a target sends.
func quotesASecret(t *testing.T, people *people) attempt {
	t.Helper()
	const text = "hunter2-of-the-team"
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: people.attacker.namespace, Name: people.attacker.secretName()}, StringData: map[string]string{"k": text}}
	people.attacker.make(t, secret)
	got := applies(describedBy("secret: {name: "+secret.Name+", key: k}")+"\nexpose: Responses")(t, people)
	if strings.Contains(got.words, text) {
		return succeeded("the Secret is quoted: %s", got.words)
	}
	return got
}

// sendsAnotherSecret has a worker send a Secret whose name does not say that load tests may use it.
func sendsAnotherSecret(t *testing.T, people *people) attempt {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: people.attacker.namespace, Name: people.attacker.name()}, StringData: map[string]string{"k": "hunter2-of-the-team"}}
	people.attacker.make(t, secret)
	return applies("requests: [{name: a, http: {headers: [{name: A, valueFrom: {secret: {name: "+secret.Name+", key: k}}}]}}]")(t, people)
}

// quotesASentSecret has a worker send a Secret that the author may not read, and permits it to
// quote what a target sends, which might be the header.
func quotesASentSecret(t *testing.T, people *people) attempt {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: people.attacker.namespace, Name: people.attacker.secretName()}, StringData: map[string]string{"k": "hunter2-of-the-team"}}
	people.attacker.make(t, secret)
	return applies("requests: [{name: a, http: {headers: [{name: A, valueFrom: {secret: {name: "+secret.Name+", key: k}}}]}, expect: {status: [418]}}]\nexpose: Responses")(t, people)
}

// importsWithoutEnd has a worker read 120 small files, of which each pair publicly imports
// both of the pair before: there are 2 to the power of 60 ways to the first.
func importsWithoutEnd(t *testing.T, people *people) attempt {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	for i := range 60 {
		for _, side := range []string{"a", "b"} {
			f := &descriptorpb.FileDescriptorProto{Name: proto.String(fmt.Sprint(side, i))}
			if i > 0 {
				f.Dependency, f.PublicDependency = []string{fmt.Sprint("a", i-1), fmt.Sprint("b", i-1)}, []int32{0, 1}
			}
			set.File = append(set.File, f)
		}
	}
	data, err := proto.Marshal(set)
	must.Succeed(t, err)
	protos := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: people.attacker.namespace, Name: people.attacker.name()}, BinaryData: map[string][]byte{"k": data}}
	people.attacker.make(t, protos)
	return applies(describedBy("configMap: {name: "+protos.Name+", key: k}"))(t, people)
}

// make makes an object as an editor, and deletes it when the test is over.
func (tn *tenant) make(t *testing.T, object client.Object) {
	t.Helper()
	must.Succeed(t, tn.editor.Create(t.Context(), object))
	t.Cleanup(func() { _ = cluster.API.Delete(context.Background(), object) })
}

// asksTheVictim has the workers ask before anything is sent, and so before a step is
// refused.
func asksTheVictim(t *testing.T, people *people) attempt {
	t.Helper()
	return applies("target: {url: 'http://api."+people.victim.namespace+".svc', protocol: HTTP/2}\npreflight: [{grpcHealth: {}}]")(t, people)
}

// callee is the pod of the attacker's that answers calls.
type callee struct {
	once sync.Once
	up   bool
}

// asking is a spec that asks it for the health of a service, which is what it is to do.
func (c *callee) asking(t *testing.T, tn *tenant, service string) string {
	t.Helper()
	c.once.Do(func() {
		labels := map[string]string{"app": "callee"}
		// The Service first: nodes and name servers read it some time later.
		tn.expose(t, "callee", labels, corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 8082}}})
		tn.hostilePod(t, "callee", labels, nil)
		c.up = true
	})
	if !c.up {
		t.Fatal("there is no target that answers calls")
	}
	return specWith(`
target: {service: {name: callee, port: 8082}, protocol: HTTP/2, timeout: 1s}
preflight: [{grpcHealth: {service: ` + service + `}}]
expose: Responses
startDeadlineSeconds: 60
worker: {resources: {requests: {cpu: 20m, memory: 32Mi}, limits: {memory: 96Mi}}}`)
}

func asksTheHostile(service string) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		return people.attacker.apply(t, people.callee.asking(t, people.attacker, service))
	}
}

// saysMarkup shows a person what the target says, in a terminal and in a browser.
func saysMarkup(t *testing.T, people *people) attempt {
	t.Helper()
	lt := people.attacker.loadTest(t, people.callee.asking(t, people.attacker, "markup"))
	people.attacker.make(t, lt)
	got := people.attacker.outcome(t, client.ObjectKeyFromObject(lt))
	if !strings.Contains(got.words, "the target sent ") {
		t.Fatalf("what the target says is not quoted: %s", got.words)
	}
	page := cluster.MustCommand(t, "kubectl", "loadtest", "report", lt.GetName(), "-n", lt.GetNamespace(), "-o", "html")
	line := cluster.MustCommand(t, "kubectl", "loadtest", "report", lt.GetName(), "-n", lt.GetNamespace())
	for where, text := range map[string]string{"condition": got.words, "report": line} {
		if i := strings.IndexAny(text, "\x1b\u202e"); i >= 0 {
			return succeeded("the %s has what a terminal obeys: %q", where, text[i:])
		}
	}
	if strings.Contains(page, "<script>alert") || !strings.Contains(page, "alert(1)") {
		return succeeded("the page has what a browser obeys, or does not show it")
	}
	return got
}
