package plan_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// workerRules are rules of the namespace of the tests; the others have none.
const workerRules = `
workers:
  - namespaces: [demo]
    images: ["registry.example.com/perf/*"]
    pullPolicies: [IfNotPresent]
    tolerationKeys: [load]
    secrets: ["loadtest-*"]
    labelKeys: [team]
    annotationKeys: ["sidecar.istio.io/*"]
    priorityClasses: ["load-*"]
    resources: {cpu: "4"}
`

func TestWorkersThatAreNotAllowedAreRefusedWithTheWayOut(t *testing.T) {
	const ask = " ask the administrator to add it to "
	const rule = " of a rule in workers of the operator's configuration."
	secret := func(s *v1beta1.LoadTestSpec) {
		ref := v1beta1.KeyReference{Name: "db", Key: "password"}
		s.Target.TLS = &v1beta1.TLS{ClientCertificate: &v1beta1.ClientCertificate{SecretName: "identity"}}
		s.Requests[0].HTTP.BodyFrom = &v1beta1.Content{Secret: &ref}
	}
	worker := func(w v1beta1.Worker) func(*v1beta1.LoadTestSpec) {
		return func(s *v1beta1.LoadTestSpec) { s.Worker = &w }
	}
	quantity := resource.MustParse
	labels := func(keys string) string {
		var all []string
		for _, key := range strings.Fields(keys) {
			all = append(all, "spec.worker.nodeSelector: label "+key+" is not allowed in namespace demo; leave it out, use kubernetes.io/os, kubernetes.io/arch, topology.kubernetes.io/zone, topology.kubernetes.io/region, or"+ask+"nodeSelectorKeys"+rule)
		}
		return strings.Join(all, " ")
	}
	for name, tc := range map[string]struct {
		change func(*v1beta1.LoadTestSpec)
		want   string // "": accepted
	}{
		"nothing":                  {func(*v1beta1.LoadTestSpec) {}, ""},
		"the image of the release": {worker(v1beta1.Worker{Image: "release"}), ""},
		"an image that is allowed": {worker(v1beta1.Worker{Image: "registry.example.com/perf/worker:v2"}), ""},
		"a pull policy that is":    {worker(v1beta1.Worker{ImagePullPolicy: corev1.PullIfNotPresent}), ""},
		"a ConfigMap":              {func(s *v1beta1.LoadTestSpec) { s.Requests[0].HTTP.BodyFrom = configMap("bodies", "a") }, ""},
		"labels, in their order": {
			worker(v1beta1.Worker{NodeSelector: map[string]string{"a": "", "b": "", "c": "", "d": "", "e": "", "f": "", "g": "", "h": ""}}), labels("a b c d e f g h"),
		},
		"a toleration that is":         {worker(v1beta1.Worker{Tolerations: []corev1.Toleration{{Key: "load", Operator: corev1.TolerationOpExists}}}), ""},
		"as much as a worker may have": {worker(v1beta1.Worker{Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": quantity("4000m"), "memory": quantity("64Gi")}}}), ""},
		"what pods may have": {worker(v1beta1.Worker{
			Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"sidecar.istio.io/inject": "false"}, PriorityClassName: "load-low",
			ImagePullSecrets: []string{"loadtest-registry"}, SpreadOver: corev1.LabelTopologyZone, AwayFrom: map[string]string{"app": "shop"}, Ndots: ptr[int32](1),
		}), ""},
		"a label": {
			worker(v1beta1.Worker{Labels: map[string]string{"app": "shop"}}),
			"spec.worker.labels: label app is not allowed in namespace demo; leave it out, use team, or" + ask + "labelKeys" + rule,
		},
		"an annotation": {
			worker(v1beta1.Worker{Annotations: map[string]string{"linkerd.io/inject": "disabled"}}),
			"spec.worker.annotations: annotation linkerd.io/inject is not allowed in namespace demo; leave it out, use sidecar.istio.io/*, or" + ask + "annotationKeys" + rule,
		},
		"a label that no pod can have": {
			worker(v1beta1.Worker{Labels: map[string]string{"team": "a b"}}),
			`spec.worker.labels: "team": "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?').`,
		},
		"a label of the operator and of Jobs, and a profile": {
			worker(v1beta1.Worker{
				Labels:      map[string]string{"loadtest.dev/run": "a", "job-name": "b", "app.kubernetes.io/managed-by": "c", "batch.kubernetes.io/job-name": "d"},
				Annotations: map[string]string{"container.apparmor.security.beta.kubernetes.io/worker": "unconfined"},
			}), "*",
		},
		"the priority of the system": {
			worker(v1beta1.Worker{PriorityClassName: "system-node-critical"}),
			"spec.worker.priorityClassName: system-node-critical is not allowed in namespace demo; leave it out, use load-*, or" + ask + "priorityClasses" + rule,
		},
		"a Secret to pull with": {
			worker(v1beta1.Worker{ImagePullSecrets: []string{"loadtest-registry", "registry"}}),
			"spec.worker.imagePullSecrets[1]: Secret registry is not allowed in namespace demo; leave it out, use loadtest-*, or" + ask + "secrets" + rule,
		},
		"an image": {
			worker(v1beta1.Worker{Image: "evil.example/miner"}),
			"spec.worker.image: evil.example/miner is not allowed in namespace demo; leave it out to use the image of the release, use registry.example.com/perf/*, or" + ask + "images" + rule,
		},
		"a pull policy": {
			worker(v1beta1.Worker{ImagePullPolicy: corev1.PullAlways}),
			"spec.worker.imagePullPolicy: Always is not allowed in namespace demo; leave it out, or" + ask + "pullPolicies" + rule,
		},
		"a node": {
			worker(v1beta1.Worker{NodeSelector: map[string]string{corev1.LabelHostname: "node-1", corev1.LabelArchStable: "arm64"}}),
			"spec.worker.nodeSelector: label kubernetes.io/hostname is not allowed in namespace demo; leave it out, use kubernetes.io/os, kubernetes.io/arch, topology.kubernetes.io/zone, topology.kubernetes.io/region, or" + ask + "nodeSelectorKeys" + rule,
		},
		"two tolerations": {
			worker(v1beta1.Worker{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}, {Key: "load"}, {Key: "gpu"}}}),
			"spec.worker.tolerations[0]: every taint is not allowed in namespace demo; leave it out, use load, or" + ask + "tolerationKeys" + rule +
				" spec.worker.tolerations[2]: taint gpu is not allowed in namespace demo; leave it out, use load, or" + ask + "tolerationKeys" + rule,
		},
		"Secrets, one in two keys": {
			secret,
			"spec names Secret db: its use is not allowed in namespace demo; leave it out, use loadtest-*, or ask the administrator to add it to secrets" + rule +
				" spec names Secret identity: its use is not allowed in namespace demo; leave it out, use loadtest-*, or ask the administrator to add it to secrets" + rule,
		},
		"responses beside Secrets that are sent": {
			func(s *v1beta1.LoadTestSpec) {
				s.Expose = v1beta1.ExposeResponses
				ref := v1beta1.KeyReference{Name: "loadtest-rows", Key: "a"}
				s.Data = []v1beta1.Data{{Name: "rows", From: v1beta1.Content{Secret: &ref}}}
				s.Target.Headers = []v1beta1.Header{{Name: "A", ValueFrom: &v1beta1.HeaderSource{Secret: v1beta1.KeyReference{Name: "loadtest-api", Key: "a"}}}}
			},
			"spec.expose: Responses is not allowed in namespace demo beside values of Secret loadtest-api, Secret loadtest-rows, which a target may send back; " +
				"leave it out, or ask the administrator to set exposeWithSecrets: true in a rule in workers of the operator's configuration.",
		},
		"responses beside a certificate": {
			func(s *v1beta1.LoadTestSpec) {
				s.Expose = v1beta1.ExposeResponses
				s.Target.TLS = &v1beta1.TLS{ClientCertificate: &v1beta1.ClientCertificate{SecretName: "loadtest-identity"}}
			}, "",
		},
		"a claim that is not for load tests": {
			func(s *v1beta1.LoadTestSpec) { s.Requests[0].HTTP.BodyFrom = volume("data", "a") },
			"spec names PersistentVolumeClaim data: its use is not allowed in namespace demo; leave it out, use loadtest-*, or" + ask + "claims" + rule,
		},
		"a claim for load tests": {func(s *v1beta1.LoadTestSpec) { s.Requests[0].HTTP.BodyFrom = volume("loadtest-data", "a") }, ""},
		"responses beside a claim that is sent": {
			func(s *v1beta1.LoadTestSpec) {
				s.Requests[0].HTTP.BodyFrom, s.Expose = volume("loadtest-data", "a"), v1beta1.ExposeResponses
			},
			"spec.expose: Responses is not allowed in namespace demo beside values of PersistentVolumeClaim loadtest-data, which a target may send back; leave it out, or ask the administrator to set exposeWithSecrets: true in a rule in workers of the operator's configuration.",
		},
		"Secrets that are sent, and nothing exposed": {
			func(s *v1beta1.LoadTestSpec) {
				ref := v1beta1.KeyReference{Name: "loadtest-body", Key: "a"}
				s.Requests[0].HTTP.BodyFrom = &v1beta1.Content{Secret: &ref}
			}, "",
		},
		"more than a worker may have": {
			worker(v1beta1.Worker{Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": quantity("4001m")}}}),
			"spec.worker.resources.requests: cpu of 4001m is more than a worker of namespace demo may have; ask for 4 or less.",
		},
		"a resource without a name in the rule": {
			worker(v1beta1.Worker{Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": quantity("1")}}}),
			"spec.worker.resources.limits: resource nvidia.com/gpu is not allowed in namespace demo; leave it out, or" + ask + "resources" + rule,
		},
		"a claim of a device": {
			worker(v1beta1.Worker{Resources: &corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}}),
			"spec.worker.resources.claims: must be empty; workers have no resource claims.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Load([]byte(workerRules))
			must.Succeed(t, err)
			lt := loadTest(withSteps(v1beta1.Step{Name: "1 users x 1", Users: ptr[int32](1), RequestsPerUser: ptr[int32](1)}))
			tc.change(&lt.Spec)
			rules := p.For(lt.Namespace)
			rules.Workers.Release = "release"
			_, refusal := plan.New(lt, rules)
			switch {
			case tc.want == "" && refusal != nil:
				t.Errorf("refused: %v", refusal)
			case tc.want == "*" && refusal != nil && strings.Count(refusal.Message, "it is a label of the operator or of Jobs") == 4 && strings.Contains(refusal.Message, "AppArmor"):
			case tc.want != "" && (refusal == nil || refusal.Reason != v1beta1.ReasonWorkerNotAllowed || refusal.Message != tc.want):
				t.Errorf("refused: %v\nwant %s", refusal, tc.want)
			}
			if _, refusal := plan.New(lt, policy.Everything()); refusal != nil && tc.want == "" {
				t.Errorf("refused on a person's own machine: %v", refusal)
			}
		})
	}
}

// An administrator may allow it.
func TestResponsesMayBeExposedBesideSecretsByARule(t *testing.T) {
	p, err := policy.Load([]byte("workers: [{exposeWithSecrets: true}]"))
	must.Succeed(t, err)
	lt := loadTest(withSteps(v1beta1.Step{Name: "1 users x 1", Users: ptr[int32](1), RequestsPerUser: ptr[int32](1)}))
	lt.Spec.Expose = v1beta1.ExposeResponses
	lt.Spec.Requests[0].HTTP.BodyFrom = &v1beta1.Content{Secret: &v1beta1.KeyReference{Name: "loadtest-body", Key: "a"}}
	same.As(t, "refusal", "", refusalOf(lt, p.For(lt.Namespace)))
}

// volume is a file of a claim.
func volume(claim v1beta1.ObjectName, path string) *v1beta1.Content {
	return &v1beta1.Content{Volume: &v1beta1.VolumeFile{Claim: claim, Path: path}}
}
