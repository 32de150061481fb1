package loadtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The Service under test is deleted, or another gets its name: the run ends within 10 s, before
// its address is given to a Service that agreed to nothing.
func TestARunWhoseServiceIsGoneEnds(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"deleted": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			c, lt := apiserver.Client(t), hello(t)
			r := newFixture(t, c)
			for range 3 {
				r.mustPass(lt)
			}
			if !lt.Status.HasAccess() || lt.Status.Internal.Access.ServiceUID == "" {
				t.Fatalf("access %+v: %v", lt.Status.Internal.Access, messages(lt))
			}
			service := &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shortener"}, Ports: []corev1.ServicePort{{Port: 8080}}}}
			service.Namespace, service.Name = lt.Namespace, "shortener"
			must.Succeed(t, c.Delete(t.Context(), service.DeepCopy()))
			want := "spec.target: Service shortener was deleted while the run went on."
			if again {
				must.Succeed(t, c.Create(t.Context(), service))
				want = "spec.target: Service shortener was replaced by another of its name while the run went on."
			}
			r.after(10*time.Second - time.Millisecond)
			if r.mustPass(lt); lt.Status.Verdict != "" {
				t.Fatalf("it ended before the Service was read again: %v", messages(lt))
			}
			r.after(time.Millisecond)
			r.mustPass(lt)
			if c := v1beta1.NotCarriedOut(lt.Status.Conditions); c == nil || c.Reason != v1beta1.ReasonTargetGone || c.Message != want {
				t.Errorf("it ended with %+v, want TargetGone: %s", c, want)
			}
		})
	}
}

// While the API server does not answer, nobody knows whether the Service is gone: the run goes on,
// and ends once it answers.
func TestAServiceThatCannotBeReadIsNotGone(t *testing.T) {
	t.Parallel()
	c, lt := apiserver.Client(t), hello(t)
	r := newFixture(t, c)
	for range 3 {
		r.mustPass(lt)
	}
	service := &corev1.Service{}
	service.Namespace, service.Name = lt.Namespace, "shortener"
	must.Succeed(t, c.Delete(t.Context(), service))
	r.TargetAccess.Reader = noReader{}
	for range 20 {
		r.after(3 * time.Second)
		if r.mustPass(lt); lt.Status.Verdict != "" {
			t.Fatalf("it ended: %v", messages(lt))
		}
	}
	r.TargetAccess.Reader = unhurried{c}
	r.after(3 * time.Second)
	if r.mustPass(lt); lt.Status.Verdict != v1beta1.VerdictError {
		t.Errorf("verdict %q: %v", lt.Status.Verdict, messages(lt))
	}
}

// noReader is an API server that does not answer.
type noReader struct{ client.Reader }

var errNoAnswer = errors.New("no answer")

func (noReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errNoAnswer
}

func (noReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errNoAnswer
}

// So it ends when the Service of another target is deleted.
func TestARunWhoseOtherServiceIsGoneEnds(t *testing.T) {
	t.Parallel()
	c, lt := apiserver.Client(t), hello(t)
	service := &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "identity"}, Ports: []corev1.ServicePort{{Port: 8443}}}}
	service.Namespace, service.Name = lt.Namespace, "identity"
	must.Succeed(t, c.Create(t.Context(), service))
	port := intstr.FromInt32(8443)
	token := *lt.Spec.Requests[0].DeepCopy()
	token.Name, token.Target = "token", "identity"
	lt.Spec.Requests = append(lt.Spec.Requests, token)
	lt.Spec.OtherTargets = []v1beta1.OtherTarget{{Name: "identity", Service: &v1beta1.ServiceReference{Name: "identity", Port: &port}}}
	must.Succeed(t, c.Update(t.Context(), lt))
	r := newFixture(t, c)
	for range 3 {
		r.mustPass(lt)
	}
	if !lt.Status.HasAccess() || len(lt.Status.Internal.OtherAccess) != 1 || lt.Status.Internal.OtherAccess[0].ServiceUID == "" {
		t.Fatalf("access %+v: %v", lt.Status.Internal.OtherAccess, messages(lt))
	}
	must.Succeed(t, c.Delete(t.Context(), service))
	r.after(10 * time.Second)
	r.mustPass(lt)
	const want = "spec.otherTargets[identity]: Service identity was deleted while the run went on."
	if c := v1beta1.NotCarriedOut(lt.Status.Conditions); c == nil || c.Reason != v1beta1.ReasonTargetGone || c.Message != want {
		t.Errorf("it ended with %+v, want TargetGone: %s", c, want)
	}
}
