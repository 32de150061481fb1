//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// counter is a target that counts, in a pod of its own behind a Service of its name.
type counter struct{ namespace, name string }

// counted is what it counted of one run.
type counted struct {
	Received, Wrong, Stored, Traced, Sampled int64
	Held                                     string
	// Longest and Stood are the target's own times; see command counter.
	Longest, Stood time.Duration
}

// startCounter starts a counter, on that node if it is named.
func startCounter(ctx context.Context, namespace, node string) (counter, error) {
	return startCounterNamed(ctx, namespace, node, "counter")
}

// counterOf starts a counter for a test.
func counterOf(t *testing.T, namespace string) counter {
	t.Helper()
	c, err := startCounter(t.Context(), namespace, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func startCounterNamed(ctx context.Context, namespace, node, name string) (counter, error) {
	c := counter{namespace, name}
	service := &corev1.Service{ObjectMeta: c.meta(), Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": name},
		Ports: []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)},
			{Name: "https", Port: 443, TargetPort: intstr.FromInt32(8443)},
		},
	}}
	for _, object := range []client.Object{c.pod(node), service} {
		if err := cluster.Create(ctx, object); err != nil {
			return c, fmt.Errorf("start counter: %w", err)
		}
	}
	return c, retry(ctx, waitTimeout, func(ctx context.Context) error {
		_, err := c.read(ctx)
		return err
	})
}

func (c counter) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.namespace, Name: c.name, Labels: map[string]string{"app": c.name}}
}

func (c counter) pod(node string) *corev1.Pod {
	spec := corev1.PodSpec{
		AutomountServiceAccountToken: ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532), FSGroup: ptr.To[int64](65532),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "counter", Image: image("counter") + ":" + imageTag(),
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

// read returns the counts of all runs.
func (c counter) read(ctx context.Context) (map[string]counted, error) {
	raw, err := cluster.pods.CoreV1().Pods(c.namespace).ProxyGet("http", c.name, "8081", "/counts", nil).DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the counts of %s: %w", c.name, err)
	}
	var all map[string]counted
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("decode the counts of %s: %w", c.name, err)
	}
	return all, nil
}

// mustRead reads the counts for a test. It reads again if a connection on the way to the pod
// breaks.
func (c counter) mustRead(t *testing.T) (counts map[string]counted) {
	t.Helper()
	soon(t, waitTimeout, func(ctx context.Context) (err error) {
		counts, err = c.read(ctx)
		return err
	})
	return counts
}

// behave changes how it answers: ok, wrong, hang, refuse or drain.
func (c counter) behave(ctx context.Context, mode string) error {
	return c.put(ctx, "mode", mode)
}

// crash ends its process. The kubelet starts another.
func (c counter) crash(ctx context.Context) error {
	// The process that would answer is gone.
	_ = c.put(ctx, "exit", "")
	return nil
}

func (c counter) put(ctx context.Context, path, is string) error {
	request := cluster.pods.CoreV1().RESTClient().Put().Namespace(c.namespace).Resource("pods").
		Name(c.name + ":8081").SubResource("proxy").Suffix(path)
	if is != "" {
		request = request.Param("is", is)
	}
	if err := request.Do(ctx).Error(); err != nil {
		return fmt.Errorf("%s of %s: %w", path, c.name, err)
	}
	return nil
}

// retry calls f until it returns no error, or the time is over.
func retry(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	for deadline := time.Now().Add(limit); ; {
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := f(once)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("given up after %s: %w", limit, err)
		}
		if err := pausing(ctx, time.Now().Add(200*time.Millisecond)); err != nil {
			return err
		}
	}
}

// soon is retry, which fails the test when the time is over.
func soon(t *testing.T, limit time.Duration, check func(context.Context) error) {
	t.Helper()
	if err := retry(t.Context(), limit, check); err != nil {
		t.Fatal(err)
	}
}
