package targetaccess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/answersize"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// endpoint is one that says to be of a pod.
func endpoint(address, pod string) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: []string{address}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: pod}}
}

func sliceOf(endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api-x", Labels: map[string]string{discoveryv1.LabelServiceName: "api"}},
		Endpoints:  endpoints,
	}
}

// underway is a run that is under way, and the Service that is its target.
func underway(now time.Time) (*corev1.Service, *v1beta1.LoadTest) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api", UID: "of-api"}}
	service.Spec.Selector, service.Spec.ClusterIPs = map[string]string{"app": "api"}, []string{"10.96.0.5"}
	service.Spec.Ports = []corev1.ServicePort{{Port: 80}}
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api"}}
	lt.Status.StartTime, lt.Status.TargetURL = &metav1.Time{Time: now}, "http://api"
	lt.Status.Internal.Access = &v1beta1.TargetAccess{}
	return service, lt
}

// An address that no pod has ends a run that is under way after 15 s. Whoever writes it may give it another name at
// each reading, and others before it. Those of pods that are replaced come and go.
func TestAnEndpointThatNoPodHasEndsARun(t *testing.T) {
	const foreign = "10.9.0.1"
	for name, tc := range map[string]struct {
		endpoints func(reading int) []discoveryv1.Endpoint
		refusedAt int
	}{
		"under one name": {func(int) []discoveryv1.Endpoint { return []discoveryv1.Endpoint{endpoint(foreign, "api-0")} }, 5},
		"under another each time": {func(i int) []discoveryv1.Endpoint {
			return []discoveryv1.Endpoint{endpoint(foreign, fmt.Sprintf("api-%d", i))}
		}, 5},
		"behind others": {func(i int) []discoveryv1.Endpoint {
			return []discoveryv1.Endpoint{endpoint(fmt.Sprintf("10.1.0.%d", i+1), "api-0"), endpoint(foreign, "api-1")}
		}, 5},
		"of a pod that has ended": {func(int) []discoveryv1.Endpoint { return []discoveryv1.Endpoint{endpoint(foreign, "ended")} }, 5},
		"of pods that are replaced": {func(i int) []discoveryv1.Endpoint {
			return []discoveryv1.Endpoint{endpoint(fmt.Sprintf("10.1.0.%d", i/2+1), "api-0")}
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			service, lt := underway(now)
			ended := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "ended", Labels: service.Spec.Selector}}
			ended.Status = corev1.PodStatus{Phase: corev1.PodFailed, PodIPs: []corev1.PodIP{{IP: foreign}}} // which another has by now
			var held *Access
			refusedAt := -1
			for i := 0; i < 12 && refusedAt < 0; i++ {
				c := &Checker{Reader: fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(service, ended, sliceOf(tc.endpoints(i)...)).Build()}
				var err error
				held, err = c.Observe(t.Context(), lt, policy.Default().For("shop").Targets, held, now)
				must.Succeed(t, err)
				if why := held.Found().Refusal; why != "" {
					refusedAt = i
					if !strings.Contains(why, foreign) {
						t.Errorf("refused as %s", why)
					}
				}
				now = now.Add(podsEvery)
			}
			same.As(t, "the reading that ends the run", tc.refusedAt, refusedAt)
		})
	}
}

// What cannot be read for a moment, as while an API server that was restarted has read no roles yet, takes the pods of a
// headless Service from no run that is under way.
func TestPodsAreKeptWhileTheyMayNotBeRead(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	service, lt := underway(now)
	service.Spec.ClusterIPs = []string{"None"}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api-0", Labels: map[string]string{"app": "api"}}}
	pod.Status.PodIPs = []corev1.PodIP{{IP: "10.1.0.7"}}
	cluster := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(service, pod, sliceOf(endpoint("10.1.0.7", "api-0"))).Build()
	forbidden := interceptor.NewClient(cluster, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no role"))
	}})
	rules := policy.Default().For("shop").Targets
	held, err := (&Checker{Reader: cluster}).Observe(t.Context(), lt, rules, nil, now)
	must.Succeed(t, err)
	lt.Status.Internal.Access = held.Found().Target
	if !held.Grant(lt) || len(held.Destinations().Target.GetAllowed()) != 1 {
		t.Fatalf("the workers are sent %v", held.Destinations().Target)
	}
	before := held.Destinations()
	for name, read := range map[string]struct {
		of    client.Reader
		rules policy.Targets
	}{"pods": {forbidden, rules}, "the configuration": {cluster, policy.Unread().For("shop").Targets}} {
		at := now.Add(time.Minute)
		after, err := (&Checker{Reader: read.of}).Observe(t.Context(), lt, read.rules, held, at)
		must.Succeed(t, err)
		if !after.Grant(lt) || !after.Destinations().Same(before) {
			t.Errorf("%s: the workers are sent %v", name, after.Destinations().Target)
		}
		same.As(t, "the time until it is read again, without "+name, podsEvery, after.next.Sub(at))
	}
}

// Who may create pods says how large they are: a page of many must not take the operator's memory.
func TestLargePodsAreReadInSmallPages(t *testing.T) {
	const pods = 12
	large := map[string]string{"large": strings.Repeat("x", 1<<20)}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		first, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		asked = append(asked, fmt.Sprintf("%d from %d", limit, first))
		list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
		for i := first; i < min(first+limit, pods); i++ {
			list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("api-", i), Annotations: large}})
		}
		if first+limit < pods {
			list.Continue = strconv.Itoa(first + limit)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list) // a client that has enough is gone
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	config.Wrap(answersize.Wrap)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	reader, err := client.New(config, client.Options{Scheme: scheme.Scheme, Mapper: mapper})
	must.Succeed(t, err)
	var s policy.Service
	must.Succeed(t, (&Checker{Reader: reader}).readPods(t.Context(), "shop", map[string]string{"app": "api"}, &s))
	server.Close()
	same.As(t, "pods that were read", pods, len(s.Pods))
	same.As(t, "pages", []string{"250 from 0", "5 from 0", "5 from 5", "5 from 10"}, asked)
}
