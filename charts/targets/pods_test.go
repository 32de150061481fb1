package targets

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What the chart asks of every pod besides the Pod Security Standard, which the
// API server checks.
func carefulPods(t *testing.T, r release) {
	for key, pod := range r.pods(t) {
		if got := pod.Spec.AutomountServiceAccountToken; got == nil || *got {
			t.Errorf("%s has a token, which no target needs", key)
		}
		if got := pod.Spec.EnableServiceLinks; got == nil || *got {
			t.Errorf("%s has the variables of all Services, which may be read as settings", key)
		}
		c := pod.Spec.Containers[0]
		if got := c.SecurityContext.ReadOnlyRootFilesystem; got == nil || !*got {
			t.Errorf("%s may write its root", key)
		}
		if len(c.Command) == 0 {
			t.Errorf("%s relies on the entrypoint of whichever image it has", key)
		}
		if problem := resources(key, c); problem != "" {
			t.Errorf("%s: %s", key, problem)
		}
		// What ends by itself is not restarted while it works.
		if lasts := pod.Spec.RestartPolicy == ""; lasts != (c.LivenessProbe != nil) || lasts != (c.ReadinessProbe != nil || c.StartupProbe != nil) {
			t.Errorf("%s: restart policy %q, with the probes: liveness %v, readiness %v", key, pod.Spec.RestartPolicy, c.LivenessProbe, c.ReadinessProbe)
		}
	}
}

// published are the limits on CPU of the published runs: a process of Python, and a
// container.
var published = map[string]string{"Deployment/shortener-app": "1", "StatefulSet/eventstore-app": "2"}

// resources returns the error in the resources of a workload's container.
func resources(key string, c corev1.Container) string {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if _, found := c.Resources.Requests[name]; !found {
			return "no request of " + string(name)
		}
	}
	if _, found := c.Resources.Limits[corev1.ResourceMemory]; !found {
		return "no limit on memory"
	}
	if limit, found := c.Resources.Limits[corev1.ResourceCPU]; found && limit.String() != published[key] {
		return "a limit on CPU that no published run had, whose throttling would be measured as slowness"
	}
	return ""
}

func TestNoProcessorIsLimitedByDefault(t *testing.T) {
	for key, pod := range render(t, "--set", everything).pods(t) {
		if limit, found := pod.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU]; found {
			t.Errorf("%s has the limit %s on CPU, whose throttling would be measured as slowness", key, &limit)
		}
	}
}

// A folder in a volume that cannot be written has no place for another volume,
// and a volume that is mounted must be there.
func placedMounts(t *testing.T, r release) {
	for key, pod := range r.pods(t) {
		volumes := map[string]bool{}
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = true
			if v.ConfigMap != nil {
				if _, found := r["ConfigMap/"+v.ConfigMap.Name]; !found {
					t.Errorf("%s mounts the ConfigMap %s, which is not there", key, v.ConfigMap.Name)
				}
			}
		}
		for _, claim := range r.claims(key) {
			volumes[claim] = true
		}
		mounts := pod.Spec.Containers[0].VolumeMounts
		for _, m := range mounts {
			if !volumes[m.Name] {
				t.Errorf("%s mounts %s, which is no volume", key, m.Name)
			}
			for _, outer := range mounts {
				if outer.ReadOnly && strings.HasPrefix(m.MountPath, outer.MountPath+"/") {
					t.Errorf("%s mounts %s in %s, where nothing can be made", key, m.MountPath, outer.MountPath)
				}
			}
		}
	}
}

// claims are the names of a StatefulSet's volumes.
func (r release) claims(key string) []string {
	spec, _ := r[key].Object["spec"].(map[string]any)
	templates, _ := spec["volumeClaimTemplates"].([]any)
	var names []string
	for _, template := range templates {
		names = append(names, template.(map[string]any)["metadata"].(map[string]any)["name"].(string))
	}
	return names
}

func TestVolumesAreClaimedOrDoneWithout(t *testing.T) {
	const enable = "shortener.enabled=true,shortener.clicks.mode=kafka,eventstore.enabled=true"
	stores := []string{"StatefulSet/shortener-postgres", "StatefulSet/shortener-kafka", "StatefulSet/eventstore-app"}
	claimed := render(t, "--set", enable+",postgres.persistence.storageClassName=fast,postgres.persistence.size=7Gi")
	for _, key := range stores {
		same.As(t, key+": claims", []string{"data"}, claimed.claims(key))
	}
	spec := claimed[stores[0]].Object["spec"].(map[string]any)["volumeClaimTemplates"].([]any)[0].(map[string]any)["spec"]
	want := map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "fast",
		"resources": map[string]any{"requests": map[string]any{"storage": "7Gi"}},
	}
	same.As[any](t, "claim", want, spec)
	off := "postgres.persistence.enabled=false,kafka.persistence.enabled=false,eventstore.persistence.enabled=false"
	ephemeral := render(t, "--set", enable, "--set", off)
	for _, key := range stores {
		same.As(t, key+" claims", nil, ephemeral.claims(key))
	}
}

// The event store writes where its events are, and nowhere else.
func TestEventStoreMounts(t *testing.T) {
	const key = "StatefulSet/eventstore-app"
	for set, want := range map[string][]string{
		"eventstore.gzip=true":                 {"/data"},
		"eventstore.tenants={one}":             {"/data", "/etc/eventstore"},
		"eventstore.persistence.enabled=false": {"/data"},
	} {
		r := render(t, "--set", "eventstore.enabled=true,"+set)
		var got []string
		for _, m := range r.container(t, key).VolumeMounts {
			got = append(got, m.MountPath)
		}
		same.As(t, fmt.Sprintf("mounts with %q", set), want, got)
	}
}

// Of one log there is nothing to choose.
func TestOpenLogsFollowTheMemory(t *testing.T) {
	for set, want := range map[string]string{
		"eventstore.openLogs=7":                          "",
		"eventstore.tenants={one}":                       "6",
		"eventstore.tenants={one},eventstore.openLogs=7": "7",
	} {
		r := render(t, "--set", "eventstore.enabled=true,"+set)
		same.As(t, set+": OPEN_LOGS", want, r.env(t, "StatefulSet/eventstore-app")["OPEN_LOGS"])
	}
}

// As many logs as may be open fit into what Go's collector leaves room in, each
// with 37 MB of pages and 80 MB of idempotency keys, and a quarter of that stays
// for requests and garbage.
func TestOpenLogsFit(t *testing.T) {
	const perLog = (37 + 80) * 1_000_000
	for name, args := range map[string][]string{
		"default":         {"--set", "eventstore.enabled=true"},
		"1 GB":            {"--values", "values-seed-003-1gb.yaml"},
		"2 GB":            {"--values", "values-seed-003-2gb.yaml"},
		"2 GB and double": {"--values", "values-seed-003-2gb.yaml", "--set", "eventstore.openLogs=12"},
	} {
		env := render(t, append(args, "--set", "eventstore.tenants={one}")...).env(t, "StatefulSet/eventstore-app")
		var logs, mebibytes int
		if _, err := fmt.Sscanf(env["OPEN_LOGS"]+" "+env["GOMEMLIMIT"], "%d %dMiB", &logs, &mebibytes); err != nil {
			t.Fatalf("%s: OPEN_LOGS %q, GOMEMLIMIT %q: %v", name, env["OPEN_LOGS"], env["GOMEMLIMIT"], err)
		}
		if most := mebibytes << 20 / 4 * 3; logs*perLog > most {
			t.Errorf("%s: %d open logs take %d bytes, more than the %d there are", name, logs, logs*perLog, most)
		}
	}
}

// Every image can come from another registry.
func TestImagesAreConfigurable(t *testing.T) {
	args := []string{"--set", everything + ",imagePullSecrets[0].name=mine"}
	for _, of := range []string{"ratelimiter", "shortener", "eventstore", "tokens", "postgres", "pgbouncer", "kafka", "redis", "nginx", "exporters.redis", "exporters.postgres"} {
		args = append(args, "--set", of+".image.repository=registry.example.com/"+of+","+of+".image.tag=v8,"+of+".image.pullPolicy=Always")
	}
	for key, pod := range render(t, args...).pods(t) {
		c := pod.Spec.Containers[0]
		if !strings.HasPrefix(c.Image, "registry.example.com/") || !strings.HasSuffix(c.Image, ":v8") || c.ImagePullPolicy != corev1.PullAlways {
			t.Errorf("%s has the image %s, pulled %s", key, c.Image, c.ImagePullPolicy)
		}
		if len(pod.Spec.ImagePullSecrets) != 1 {
			t.Errorf("%s has no pull secret", key)
		}
	}
	for key, pod := range render(t, "--values", "values-local.yaml", "--set", everything).pods(t) {
		if c := pod.Spec.Containers[0]; !strings.HasPrefix(c.Image, "loadtest.dev/") || c.ImagePullPolicy != corev1.PullNever {
			t.Errorf("%s has the image %s, pulled %s, where there is no registry", key, c.Image, c.ImagePullPolicy)
		}
	}
}

func TestPodsArePlacedAsAsked(t *testing.T) {
	args := []string{"--set", everything + ",commonLabels.team=perf,commonLabels.app\\.kubernetes\\.io/part-of=shop"}
	for _, target := range []string{"ratelimiter", "shortener", "eventstore", "tokens"} {
		args = append(args, "--set", target+".nodeSelector.of="+target+","+target+".tolerations[0].key=load")
	}
	r := render(t, args...)
	for key, pod := range r.pods(t) {
		target := pod.Labels["app.kubernetes.io/name"]
		if pod.Spec.NodeSelector["of"] != target || len(pod.Spec.Tolerations) != 1 {
			t.Errorf("%s of %s: node selector %v, tolerations %v", key, target, pod.Spec.NodeSelector, pod.Spec.Tolerations)
		}
	}
	for key, o := range r {
		if labels := o.GetLabels(); labels["team"] != "perf" || labels["app.kubernetes.io/part-of"] != "shop" {
			t.Errorf("%s lacks the common labels: %v", key, labels)
		}
	}
}

// Go's collector aims below the limit at which the kernel kills.
func TestGOMEMLIMITFollowsMemoryLimit(t *testing.T) {
	for limit, want := range map[string]string{"1Gi": "921MiB", "2Gi": "1843MiB", "512Mi": "460MiB", "1G": "", "1.5Gi": ""} {
		r := render(t, "--set", everything+",ratelimiter.resources.limits.memory="+limit+",eventstore.resources.limits.memory="+limit+
			",shortener.resources.limits.memory="+limit+",shortener.clicks.resources.limits.memory="+limit+",shortener.seed.resources.limits.memory="+limit+",tokens.resources.limits.memory="+limit)
		for _, key := range []string{
			"Deployment/ratelimiter-app", "Deployment/shortener-app", "Deployment/shortener-clicks", "Job/shortener-seed", "StatefulSet/eventstore-app", "Deployment/tokens-app",
		} {
			same.As(t, fmt.Sprintf("limit %s: %s has GOMEMLIMIT", limit, key), want, r.env(t, key)["GOMEMLIMIT"])
		}
	}
}
