package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Counter is a target that counts, in a pod of its own behind a Service of its name.
type Counter struct{ Namespace, Name string }

// Counted is what it counted of one run.
type Counted struct {
	Received, Wrong, Stored, Traced, Sampled int64
	Held                                     string
	// Longest and Stood are the target's own times; see command counter.
	Longest, Stood time.Duration
}

// StartCounter starts a counter, on that node if it is named.
func StartCounter(ctx context.Context, namespace, node string) (Counter, error) {
	return StartCounterNamed(ctx, namespace, node, "counter")
}

// CounterOf starts a counter for a test.
func CounterOf(t *testing.T, namespace string) Counter {
	t.Helper()
	c, err := StartCounter(t.Context(), namespace, "")
	must.Succeed(t, err)
	return c
}

// StartCounterNamed starts a counter of another name.
func StartCounterNamed(ctx context.Context, namespace, node, name string) (Counter, error) {
	c := Counter{namespace, name}
	service := &corev1.Service{ObjectMeta: c.meta(), Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": name},
		Ports: []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)},
			{Name: "https", Port: 443, TargetPort: intstr.FromInt32(8443)},
		},
	}}
	for _, object := range []client.Object{c.Pod(node), service} {
		if err := API.Create(ctx, object); err != nil {
			return c, fmt.Errorf("start counter: %w", err)
		}
	}
	return c, Try(ctx, Patience, func(ctx context.Context) error {
		_, err := c.Read(ctx)
		return err
	})
}

func (c Counter) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name, Labels: map[string]string{"app": c.Name}}
}

// Pod is the counter's pod, on that node if it is named.
func (c Counter) Pod(node string) *corev1.Pod {
	spec := corev1.PodSpec{
		AutomountServiceAccountToken: ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532), FSGroup: ptr.To[int64](65532),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "counter", Image: Image("counter") + ":" + ImageTag(),
			// A machine that is busy serves it before what asks for nothing.
			Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
			VolumeMounts: []corev1.VolumeMount{{Name: "counts", MountPath: "/counts"}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
		// It outlives a crash of the container.
		Volumes: []corev1.Volume{{Name: "counts", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}
	if node != "" {
		spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	}
	return &corev1.Pod{ObjectMeta: c.meta(), Spec: spec}
}

// Read returns the counts of all runs.
func (c Counter) Read(ctx context.Context) (map[string]Counted, error) {
	raw, err := Clientset.CoreV1().Pods(c.Namespace).ProxyGet("http", c.Name, "8081", "/counts", nil).DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the counts of %s: %w", c.Name, err)
	}
	var all map[string]Counted
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("decode the counts of %s: %w", c.Name, err)
	}
	return all, nil
}

// MustRead reads the counts for a test. It reads again if a connection on the way to the pod
// breaks.
func (c Counter) MustRead(t *testing.T) (counts map[string]Counted) {
	t.Helper()
	Soon(t, func(ctx context.Context) (err error) {
		counts, err = c.Read(ctx)
		return err
	})
	return counts
}

// Behave changes how it answers: ok, wrong, hang, refuse or drain.
func (c Counter) Behave(ctx context.Context, mode string) error {
	return c.put(ctx, "mode", mode)
}

// Crash ends its process. The kubelet starts another.
func (c Counter) Crash(ctx context.Context) error {
	// The process that would answer is gone.
	_ = c.put(ctx, "exit", "")
	return nil
}

func (c Counter) put(ctx context.Context, path, is string) error {
	request := Clientset.CoreV1().RESTClient().Put().Namespace(c.Namespace).Resource("pods").
		Name(c.Name + ":8081").SubResource("proxy").Suffix(path)
	if is != "" {
		request = request.Param("is", is)
	}
	if err := request.Do(ctx).Error(); err != nil {
		return fmt.Errorf("%s of %s: %w", path, c.Name, err)
	}
	return nil
}

// DescribeHealth has a ConfigMap with the descriptors of the service that is called.
func DescribeHealth(ctx context.Context, namespace string) error {
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{
		File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(healthpb.File_grpc_health_v1_health_proto)},
	})
	if err != nil {
		return err
	}
	return API.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "health"}, BinaryData: map[string][]byte{"health.binpb": set},
	})
}

// Received is how many requests a target counts under a name.
func Received(t *testing.T, c Counter, name string) int64 {
	t.Helper()
	return c.MustRead(t)[name].Received
}
