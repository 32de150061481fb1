//go:build e2e

package e2e

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

// spoken is a protocol by which a run sends its load to a counter.
type spoken struct {
	name     string
	protocol v1alpha1.Protocol
	secure   bool
	calls    bool // of gRPC
}

// usual is the protocol that the other cluster tests use.
var usual = spoken{name: "HTTP/1.1", protocol: v1alpha1.ProtocolHTTP1}

// allProtocols are those that the other cluster tests do not use.
var allProtocols = []spoken{
	{name: "HTTP/1.1 over TLS", protocol: v1alpha1.ProtocolHTTP1, secure: true},
	{name: "HTTP/2 over TLS", protocol: v1alpha1.ProtocolHTTP2, secure: true},
	{name: "HTTP/2", protocol: v1alpha1.ProtocolHTTP2},
	{name: "gRPC", protocol: v1alpha1.ProtocolHTTP2, calls: true},
}

// twoSteps have two workers that send 20 requests a second: in the first step of users with a
// connection each, in the second of arrivals, which share connections over HTTP/2.
func twoSteps() fault.Load {
	return fault.Load{Workers: 2, Steps: []fault.Step{{Users: 20, Every: time.Second, Length: twoStepsLength}, {Rate: 20, Length: twoStepsLength}}}
}

// twoStepsLength is how long each of them takes.
const twoStepsLength = 6 * time.Second

// over is a load over the protocol.
func (p spoken) over(load fault.Load) fault.Load {
	change := load.Change
	load.Change = func(spec *v1alpha1.LoadTestSpec) {
		if change != nil {
			change(spec)
		}
		spec.Target.Protocol = p.protocol
		if p.calls {
			spec.Target.GRPC = &v1alpha1.TargetGRPC{DescriptorsFrom: &v1alpha1.KeySource{ConfigMapKeyRef: &v1alpha1.KeyReference{Name: "health", Key: "health.binpb"}}}
			spec.Requests = []v1alpha1.Request{called(spec.Requests[0])}
		}
		if p.secure {
			spec.Target.Service.Scheme, spec.Target.Service.Port = v1alpha1.SchemeHTTPS, ptr.To(intstr.FromInt32(443))
			spec.Target.TLS = &v1alpha1.TLS{CA: &v1alpha1.KeySource{ConfigMapKeyRef: &v1alpha1.KeyReference{Name: "ca", Key: "ca.crt"}}, ServerName: "example.com"}
		}
	}
	return load
}

// called is a call for which the counter counts, and waits, as for a request.
func called(r v1alpha1.Request) v1alpha1.Request {
	name, query, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "?")
	call := &v1alpha1.Call{
		Method: healthpb.Health_Check_FullMethodName[1:], Metadata: []v1alpha1.Header{{Name: "name", Value: ptr.To(name)}},
	}
	if delay, ok := strings.CutPrefix(query, "delay="); ok {
		call.Metadata = append(call.Metadata, v1alpha1.Header{Name: "delay", Value: ptr.To(delay)})
	}
	return v1alpha1.Request{Name: r.Name, GRPC: call}
}

// trustCounters has a ConfigMap with the certificate that every counter has.
func trustCounters(ctx context.Context, namespace string) error {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return cluster.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ca"}, Data: map[string]string{"ca.crt": string(text)},
	})
}

// describeHealth has a ConfigMap with the descriptors of the service that is called.
func describeHealth(ctx context.Context, namespace string) error {
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{
		File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(healthpb.File_grpc_health_v1_health_proto)},
	})
	if err != nil {
		return err
	}
	return cluster.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "health"}, BinaryData: map[string][]byte{"health.binpb": set},
	})
}

// TestProtocols replaces the pods to which requests, and calls, share connections of HTTP/2.
// What else becomes of runs over each protocol, TestFaults has.
func TestProtocols(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{"requests": drainedRequests, "calls": drainedCalls} {
		t.Run(name+" drained", func(t *testing.T) {
			t.Parallel()
			drained(t, drainedTarget+spec)
		})
	}
}

const (
	// drainedSends is how many requests are due in a run against pods that are drained. That
	// two busy cores delay them, as its verdict then says, is no fault of the run.
	drainedSends  = 4000
	drainedTarget = `
steps: [{rate: "100", duration: 40s}]
worker: {resources: {requests: {cpu: 20m, memory: 32Mi}}}
target:
  service: {name: rolled, port: 8443, scheme: https}
  tls: {insecureSkipVerify: true}
  protocol: HTTP/2
  http2: {connections: 4}
  timeout: 5s
`
	drainedRequests = `
requests: [{path: "/run?delay=20ms"}]
`
	drainedCalls = `
  grpc: {descriptorsFrom: {configMapKeyRef: {name: health, key: health.binpb}}}
requests: [{grpc: {method: grpc.health.v1.Health/Check, metadata: [{name: name, value: run}, {name: delay, value: 20ms}]}}]
`
)

// drained replaces the pods of a headless Service while requests share connections to
// them. The old ones end each connection by GOAWAY once it carried a request. A request that
// they say that they have not processed is refused, and is not sent again.
func drained(t *testing.T, spec string) {
	const pods = 2
	r := newRolled(t, pods, spec)
	r.start("new", pods)
	r.retire("old", pods)
	for i := range pods {
		if err := r.pods[fmt.Sprintf("old-%d", i)].behave(t.Context(), "drain"); err != nil {
			t.Fatal(err)
		}
	}
	r.await("new", pods)
	finish(t, r.lt, waitTimeout)
	received, s := r.received(), r.lt.Status.Steps[0].Result
	if s == nil {
		t.Fatalf("verdict %s without a result: %s", r.lt.Status.Verdict, condition(r.lt, v1alpha1.ConditionFinished).Message)
	}
	t.Logf("%d sent over %d connections: %d answered, %d refused", s.Sent, s.Generator.ConnectionsOpened, s.Outcomes.Success, s.Outcomes.Refused)
	if s.Due != drainedSends || s.Outcomes.Success != received || s.Outcomes.Refused != s.Sent-received {
		t.Errorf("%d received, of %d sent; want that as many succeeded, and that all others were refused: %+v %v", received, s.Sent, s.Outcomes, s.ErrorSamples)
	}
	if s.Outcomes.Refused == 0 || s.Generator.ConnectionsOpened <= 4 {
		t.Errorf("%d refused over %d connections: the target did not drain", s.Outcomes.Refused, s.Generator.ConnectionsOpened)
	}
}
