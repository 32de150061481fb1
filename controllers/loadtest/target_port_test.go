package loadtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// services fails to read Services, if err is set.
type services struct {
	client.Reader
	err error
}

func (s *services) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*corev1.Service); ok && s.err != nil {
		return s.err
	}
	return s.Reader.Get(ctx, key, o, opts...)
}

// named is a LoadTest whose target is the port http of the Service shortener.
func named(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	lt := withoutService(t)
	port := intstr.FromString("http")
	lt.Spec.Target = v1beta1.Target{Service: &v1beta1.ServiceReference{Name: "shortener", Port: &port}}
	must.Succeed(t, apiserver.Client(t).Update(t.Context(), lt))
	return lt
}

func TestNamedPortIsLookedUpBeforeTheRunBegins(t *testing.T) {
	t.Parallel()
	c, lt := apiserver.Client(t), named(t)
	r := newFixture(t, c)
	until := " The run gives up at 10:05:00 UTC (startDeadlineSeconds)."
	waits := func(problem string) {
		t.Helper()
		r.after(time.Second) // what a run waits for is written once a second
		if r.mustPass(lt).RequeueAfter <= 0 {
			t.Error("nothing looks at the Service again")
		}
		if got := workersReady(lt); got.Reason != v1beta1.ReasonTargetUnreachable || got.Message != problem+until {
			t.Errorf("WorkersReady is %s: %s; want %s", got.Reason, got.Message, problem+until)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), &batchv1.Job{}); !apierrors.IsNotFound(err) {
			t.Errorf("the Job: %v, want none before the port is known", err)
		}
	}
	r.mustPass(lt)
	waits("Service shortener (spec.target.service) does not exist.")

	service := &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shortener"}, Ports: []corev1.ServicePort{{Name: "web", Port: 8080}, {Name: "metrics", Port: 9090}}}}
	service.Namespace, service.Name = lt.Namespace, "shortener"
	must.Succeed(t, c.Create(t.Context(), service))
	waits("Service shortener has no port named http; its ports: 8080 web, 9090 metrics. Correct spec.target.service.port.")

	service.Spec.Ports[0].Name = "http"
	must.Succeed(t, c.Update(t.Context(), service))
	r.mustPass(lt)
	same.As(t, "target", "http://shortener."+lt.Namespace+".svc:8080", lt.Status.TargetURL)

	r.mustPass(lt) // which reads where it leads to
	// The port that was found stays, whatever becomes of the Service.
	must.Succeed(t, c.Delete(t.Context(), service))
	bringPods(t, lt)
	r.mustPass(lt)
	if d := r.workers.last(); len(d.Assignments) != 2 || d.Assignments[0].GetTarget().GetUrl() != lt.Status.TargetURL {
		t.Errorf("assignments %v, want 2 with target %s", d.Assignments, lt.Status.TargetURL)
	}
}

// An operator that may not read Services says how to do without; another failure is
// tried again.
func TestServiceThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c, lt := apiserver.Client(t), named(t)
	r, s := newFixture(t, c), &services{Reader: unhurried{c}}
	r.readPastCache(s)
	r.mustPass(lt)
	s.err = apierrors.NewForbidden(corev1.Resource("services"), "shortener", errors.New("no rule"))
	r.mustPass(lt)
	if got := workersReady(lt).Message; !strings.Contains(got, "give the port's number in spec.target.service.port") {
		t.Errorf("WorkersReady: %s", got)
	}
	s.err = errors.New("connection refused")
	if _, err := r.pass(lt); err == nil || !strings.HasPrefix(err.Error(), "get Service: ") {
		t.Errorf("got %v, want that the Service cannot be read", err)
	}
}
