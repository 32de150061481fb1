//go:build e2e

package faults

import (
	"context"
	"encoding/pem"
	"net/http/httptest"
	"strings"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

// spoken is a protocol by which a run sends its load to a counter.
type spoken struct {
	name     string
	protocol v1beta1.Protocol
	secure   bool
	calls    bool // of gRPC
}

// usual is the protocol that the other cluster tests use.
var usual = spoken{name: "HTTP/1.1", protocol: v1beta1.ProtocolHTTP1}

// allProtocols are those that the other cluster tests do not use.
var allProtocols = []spoken{
	{name: "HTTP/1.1 over TLS", protocol: v1beta1.ProtocolHTTP1, secure: true},
	{name: "HTTP/2 over TLS", protocol: v1beta1.ProtocolHTTP2, secure: true},
	{name: "HTTP/2", protocol: v1beta1.ProtocolHTTP2},
	{name: "gRPC", protocol: v1beta1.ProtocolHTTP2, calls: true},
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
	load.Change = func(spec *v1beta1.LoadTestSpec) {
		if change != nil {
			change(spec)
		}
		spec.Target.Protocol = p.protocol
		if p.calls {
			spec.Target.GRPC = &v1beta1.TargetGRPC{DescriptorsFrom: &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "health", Key: "health.binpb"}}}
			spec.Requests = []v1beta1.Request{called(spec.Requests[0])}
		}
		if p.secure {
			spec.Target.Service.Scheme, spec.Target.Service.Port = v1beta1.SchemeHTTPS, ptr.To(intstr.FromInt32(443))
			spec.Target.TLS = &v1beta1.TLS{CA: &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "ca", Key: "ca.crt"}}, ServerName: "example.com"}
		}
	}
	return load
}

// called is a call for which the counter counts, and waits, as for a request.
func called(r v1beta1.Request) v1beta1.Request {
	name, query, _ := strings.Cut(strings.TrimPrefix(r.HTTP.Path, "/"), "?")
	call := &v1beta1.Call{
		Method: healthpb.Health_Check_FullMethodName[1:], Metadata: []v1beta1.Header{{Name: "name", Value: ptr.To(name)}},
	}
	if delay, ok := strings.CutPrefix(query, "delay="); ok {
		call.Metadata = append(call.Metadata, v1beta1.Header{Name: "delay", Value: ptr.To(delay)})
	}
	return v1beta1.Request{Name: r.Name, GRPC: call}
}

// trustCounters has a ConfigMap with the certificate that every counter has.
func trustCounters(ctx context.Context, namespace string) error {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return cluster.API.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ca"}, Data: map[string]string{"ca.crt": string(text)},
	})
}
