package targets

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var presets = map[string]string{
	"values-seed-004-hash.yaml":        "hash",
	"values-seed-004-transaction.yaml": "transaction",
	"values-seed-004-lua.yaml":         "lua",
	"values-seed-004-lua-seconds.yaml": "lua-seconds",
}

func TestLint(t *testing.T) {
	files, err := filepath.Glob("values-*.yaml")
	if err != nil || len(files) < len(presets) {
		t.Fatalf("presets = %v, %v", files, err)
	}
	for _, file := range files {
		out, err := exec.CommandContext(t.Context(), helm(t), "lint", "--strict", "--values", file, ".").CombinedOutput()
		if err != nil {
			t.Errorf("helm lint --values %s: %v\n%s", file, err, out)
		}
	}
}

// What users and other charts refer to by name.
func TestObjects(t *testing.T) {
	want := []string{
		"ConfigMap/ratelimiter-nginx",
		"Deployment/ratelimiter-app", "Deployment/ratelimiter-nginx", "Deployment/ratelimiter-redis",
		"PodDisruptionBudget/ratelimiter-app",
		"Service/ratelimiter", "Service/ratelimiter-app", "Service/ratelimiter-redis",
	}
	tests := map[string]struct {
		args []string
		want []string
	}{
		"default": {want: want},
		"one replica has nothing to spare": {
			args: []string{"--set", "ratelimiter.replicas=1"},
			want: slices.DeleteFunc(slices.Clone(want), func(s string) bool { return strings.HasPrefix(s, "Pod") }),
		},
		"another name": {
			args: []string{"--set", "ratelimiter.service.name=other"},
			want: strings.Split(strings.ReplaceAll(strings.Join(want, " "), "/ratelimiter", "/other"), " "),
		},
		"network policies": {
			args: []string{"--set", "networkPolicy.enabled=true"},
			want: append(slices.Clone(want), "NetworkPolicy/ratelimiter-app", "NetworkPolicy/ratelimiter-redis"),
		},
		"disabled": {args: []string{"--set", "ratelimiter.enabled=false"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := slices.Sorted(maps.Keys(render(t, tc.args...)))
			slices.Sort(tc.want)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPresets(t *testing.T) {
	for file, strategy := range presets {
		t.Run(strategy, func(t *testing.T) {
			r := render(t, "--values", file)
			want := map[string]string{
				"PORT": "8080", "REDIS_ADDR": "ratelimiter-redis:6379", "REDIS_POOL_SIZE": "20",
				"LIMITER_STRATEGY": strategy, "LIMITER_CAPACITY": "50", "LIMITER_REFILL_RATE": "10", "MAX_RETRIES": "10",
				"TRUSTED_PROXIES": "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,198.18.0.0/15,fc00::/7",
				"SHUTDOWN_DELAY":  "3s",
			}
			if diff := cmp.Diff(want, r.env(t)); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if got := r["Deployment/ratelimiter-app"].Spec.Replicas; got == nil || *got != 4 {
				t.Errorf("replicas = %v, want 4", got)
			}
		})
	}
}

// Helm reads numbers of a file as floats, and would write a million as 1e+06.
func TestNumbersStayNumbers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	values := "ratelimiter: {capacity: 1000000, maxRetries: 0, refillPerSecond: 0.5}\nredis: {poolSize: 1000}\n"
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	env := render(t, "--values", file).env(t)
	for name, want := range map[string]string{
		"LIMITER_CAPACITY": "1000000", "LIMITER_REFILL_RATE": "0.5", "MAX_RETRIES": "0", "REDIS_POOL_SIZE": "1000",
	} {
		if env[name] != want {
			t.Errorf("%s = %q, want %q", name, env[name], want)
		}
	}
	// With --set a fraction is a string.
	if got := render(t, "--set", "ratelimiter.refillPerSecond=0.5").env(t)["LIMITER_REFILL_RATE"]; got != "0.5" {
		t.Errorf("LIMITER_REFILL_RATE = %q, want 0.5", got)
	}
}

func TestEveryPodIsRestricted(t *testing.T) {
	no := false
	for key, o := range render(t) {
		if o.Spec.Template == nil {
			continue
		}
		t.Run(key, func(t *testing.T) {
			pod := o.Spec.Template.Spec
			security := pod.SecurityContext
			if !security.RunAsNonRoot || security.RunAsUser == 0 || security.SeccompProfile.Type != "RuntimeDefault" {
				t.Errorf("pod security context = %+v", security)
			}
			if diff := cmp.Diff(&no, pod.AutomountServiceAccountToken); diff != "" {
				t.Errorf("automountServiceAccountToken (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&no, pod.EnableServiceLinks); diff != "" {
				t.Errorf("enableServiceLinks (-want +got):\n%s", diff)
			}
			for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
				restricted(t, c)
			}
		})
	}
}

func restricted(t *testing.T, c container) {
	t.Helper()
	security := c.SecurityContext
	if security.AllowPrivilegeEscalation == nil || *security.AllowPrivilegeEscalation {
		t.Errorf("container %s may escalate its privileges", c.Name)
	}
	if !security.ReadOnlyRootFilesystem {
		t.Errorf("container %s may write its root", c.Name)
	}
	if diff := cmp.Diff([]string{"ALL"}, security.Capabilities.Drop); diff != "" {
		t.Errorf("container %s: dropped capabilities (-want +got):\n%s", c.Name, diff)
	}
	if c.LivenessProbe == nil {
		t.Errorf("container %s has no liveness probe", c.Name)
	}
	if c.Resources.Requests["cpu"] == "" || c.Resources.Requests["memory"] == "" || c.Resources.Limits["memory"] == "" {
		t.Errorf("container %s: resources = %+v, want requests and a limit on memory", c.Name, c.Resources)
	}
	if limit, limited := c.Resources.Limits["cpu"]; limited {
		t.Errorf("container %s is throttled at %s of CPU, which would be measured as its own slowness", c.Name, limit)
	}
}

func TestImages(t *testing.T) {
	tests := map[string]struct {
		args []string
		want map[string]string
	}{
		"official by default": {want: map[string]string{
			"ratelimiter-app":   "loadtest-dev/ratelimiter:0.1.0 IfNotPresent",
			"ratelimiter-nginx": "nginxinc/nginx-unprivileged:1.28-alpine IfNotPresent",
			"ratelimiter-redis": "redis:7.4-alpine IfNotPresent",
		}},
		"local": {args: []string{"--values", "values-local.yaml"}, want: map[string]string{
			"ratelimiter-app":   "loadtest.dev/ratelimiter:dev Never",
			"ratelimiter-nginx": "loadtest.dev/nginx:dev Never",
			"ratelimiter-redis": "loadtest.dev/redis:dev Never",
		}},
		"one of them": {
			args: []string{"--set", "redis.image.repository=registry.example.com/valkey,redis.image.tag=v8,redis.image.pullPolicy=Always"},
			want: map[string]string{
				"ratelimiter-app":   "loadtest-dev/ratelimiter:0.1.0 IfNotPresent",
				"ratelimiter-nginx": "nginxinc/nginx-unprivileged:1.28-alpine IfNotPresent",
				"ratelimiter-redis": "registry.example.com/valkey:v8 Always",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, got := render(t, tc.args...), map[string]string{}
			for deployment := range tc.want {
				c := r.pod(t, deployment).Containers[0]
				got[deployment] = c.Image + " " + c.PullPolicy
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
}

// No image's own entrypoint is relied on, so that official images and plain
// ones both do.
func TestCommands(t *testing.T) {
	r := render(t)
	want := map[string][]string{
		"ratelimiter-nginx": {"nginx", "-e", "stderr", "-c", "/etc/ratelimiter/nginx.conf", "-g", "daemon off;"},
		"ratelimiter-redis": {"redis-server", "--save", "", "--appendonly", "no", "--dir", "/tmp",
			"--protected-mode", "no", "--maxmemory", "100mb", "--maxmemory-policy", "noeviction"},
	}
	for deployment, command := range want {
		c := r.pod(t, deployment).Containers[0]
		if diff := cmp.Diff(command, slices.Concat(c.Command, c.Args)); diff != "" {
			t.Errorf("%s: command (-want +got):\n%s", deployment, diff)
		}
	}
}

// Every selector selects the pods of one Deployment, and every port of a
// Service leads to one that its pods have.
func TestServicesLeadToTheirPods(t *testing.T) {
	r := render(t)
	for service, deployment := range map[string]string{
		"ratelimiter": "ratelimiter-nginx", "ratelimiter-app": "ratelimiter-app", "ratelimiter-redis": "ratelimiter-redis",
	} {
		selector, _ := r["Service/"+service].Spec.Selector.(map[string]any)
		if len(selector) == 0 {
			t.Fatalf("Service %s selects nothing", service)
		}
		for key, o := range r {
			if o.Spec.Template == nil {
				continue
			}
			labels, matches := o.Spec.Template.Metadata.Labels, true
			for label, value := range selector {
				matches = matches && labels[label] == value
			}
			if want := key == "Deployment/"+deployment; matches != want {
				t.Errorf("Service %s selects %s: %v, want %v", service, key, matches, want)
			}
		}
	}
	ports := r["Service/ratelimiter"].Spec.Ports
	if len(ports) != 1 || ports[0].Port != 80 || ports[0].TargetPort != "http" {
		t.Errorf("ports of the Service ratelimiter = %+v, want 80 to http", ports)
	}
}

func TestNginxConfiguration(t *testing.T) {
	r := render(t, "--set", "ratelimiter.service.name=other,nginx.workers=3,nginx.workerConnections=1024,nginx.keepalive=7")
	conf := r["ConfigMap/other-nginx"].Data["nginx.conf"]
	for _, want := range []string{
		"worker_processes 3;", "worker_connections 1024;", "worker_rlimit_nofile 1536;",
		"server other-app:8080;", "keepalive 7;",
		"proxy_http_version 1.1;", "proxy_next_upstream off;",
		"proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
	} {
		if !strings.Contains(conf, want) {
			t.Errorf("nginx.conf has no %q:\n%s", want, conf)
		}
	}
}

// Nginx reads its configuration at its start only.
func TestAnotherConfigurationIsAnotherPod(t *testing.T) {
	checksum := func(args ...string) string {
		return render(t, args...)["Deployment/ratelimiter-nginx"].Spec.Template.Metadata.Annotations["checksum/config"]
	}
	one, other := checksum(), checksum("--set", "nginx.keepalive=7")
	if one == "" || one == other {
		t.Errorf("checksums of two configurations are %q and %q", one, other)
	}
}

// A replica is not killed before it has ended by itself.
func TestGracePeriodCoversTheShutdown(t *testing.T) {
	for _, delay := range []int{0, 3, 60} {
		pod := render(t, "--set", "ratelimiter.shutdownDelaySeconds="+strconv.Itoa(delay)).pod(t, "ratelimiter-app")
		if pod.TerminationGracePeriod == nil || *pod.TerminationGracePeriod < delay+20 {
			t.Errorf("delay %d s: grace period %v, want at least %d s", delay, pod.TerminationGracePeriod, delay+20)
		}
	}
}

func TestPlacement(t *testing.T) {
	r := render(t, "--set", "ratelimiter.nodeSelector.disk=ssd,ratelimiter.tolerations[0].key=load,imagePullSecrets[0].name=mine,commonLabels.team=perf")
	for _, deployment := range []string{"ratelimiter-app", "ratelimiter-nginx", "ratelimiter-redis"} {
		pod := r.pod(t, deployment)
		if pod.NodeSelector["disk"] != "ssd" || len(pod.Tolerations) != 1 || len(pod.PullSecrets) != 1 {
			t.Errorf("%s: node selector %v, tolerations %v, pull secrets %v", deployment, pod.NodeSelector, pod.Tolerations, pod.PullSecrets)
		}
	}
	for key, o := range r {
		if o.Metadata.Labels["team"] != "perf" {
			t.Errorf("%s lacks the common label: %v", key, o.Metadata.Labels)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	tests := map[string]struct {
		set, want string
	}{
		"an unknown strategy":   {"ratelimiter.strategy=magic", "at '/ratelimiter/strategy': value must be one of 'hash', 'transaction', 'lua', 'lua-seconds'"},
		"negative replicas":     {"ratelimiter.replicas=-1", "at '/ratelimiter/replicas': minimum: got -1, want 1"},
		"no capacity":           {"ratelimiter.capacity=0", "at '/ratelimiter/capacity': minimum: got 0, want 1"},
		"a word for a number":   {"ratelimiter.capacity=few", "at '/ratelimiter/capacity': got string, want integer"},
		"no refill":             {"ratelimiter.refillPerSecond=0", "at '/ratelimiter/refillPerSecond': exclusiveMinimum"},
		"a refill that is none": {"ratelimiter.refillPerSecond=0.0", "at '/ratelimiter/refillPerSecond': 'not' failed"},
		"a misspelt value":      {"ratelimiter.replica=3", "at '/ratelimiter': additional properties 'replica' not allowed"},
		"an address":            {"ratelimiter.trustedProxies[0]=10.0.0.1", "at '/ratelimiter/trustedProxies/0': '10.0.0.1' does not match pattern"},
		"a pull policy":         {"nginx.image.pullPolicy=Maybe", "at '/nginx/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'"},
		"no room for a suffix":  {"ratelimiter.service.name=" + strings.Repeat("a", 58), "at '/ratelimiter/service/name': maxLength: got 58, want 57"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, mistakes, err := template(t, "--set", tc.set)
			if err == nil || !strings.Contains(mistakes, tc.want) {
				t.Errorf("--set %s: error %v\n%s\nwant %s", tc.set, err, mistakes, tc.want)
			}
		})
	}
}
