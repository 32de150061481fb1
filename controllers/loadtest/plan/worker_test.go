package plan_test

import (
	"strings"
	"testing"

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
	const (
		ask    = "ask the administrator to add it to "
		rule   = " of a rule in workers of the operator's configuration."
		none   = " is not allowed in namespace demo; leave it out, "
		use    = ": its use is not allowed in namespace demo; leave it out, use loadtest-*, or " + ask
		expose = ", which a target may send back; leave it out, or ask the administrator to set exposeWithSecrets: true in a rule in workers of the operator's configuration."
		keys   = none + "use kubernetes.io/os, kubernetes.io/arch, topology.kubernetes.io/zone, topology.kubernetes.io/region, or " + ask + "nodeSelectorKeys" + rule
		label  = "spec.worker.nodeSelector: label "
		claim  = "bodyFrom: {volume: {claim: loadtest-data, path: a}}"
	)
	for name, tc := range map[string]struct{ spec, want string }{ // want "": accepted
		"nothing":                      {"{}", ""},
		"the image of the release":     {"worker: {image: release}", ""},
		"an image that is allowed":     {"worker: {image: registry.example.com/perf/worker:v2}", ""},
		"a pull policy that is":        {"worker: {imagePullPolicy: IfNotPresent}", ""},
		"a ConfigMap":                  {"requests: [{name: a, http: {bodyFrom: {configMap: {name: bodies, key: a}}}}]", ""},
		"a toleration that is":         {"worker: {tolerations: [{key: load, operator: Exists}]}", ""},
		"as much as a worker may have": {"worker: {resources: {limits: {cpu: 4000m, memory: 64Gi}}}", ""},
		"what pods may have": {`worker: {labels: {team: a}, annotations: {sidecar.istio.io/inject: "false"}, priorityClassName: load-low,
			imagePullSecrets: [loadtest-registry], spreadOver: topology.kubernetes.io/zone, awayFrom: {app: shop}, ndots: 1}`, ""},
		"responses beside a certificate":             {"{expose: Responses, target: {tls: {clientCertificate: {secretName: loadtest-identity}}}}", ""},
		"a claim for load tests":                     {"requests: [{name: a, http: {" + claim + "}}]", ""},
		"Secrets that are sent, and nothing exposed": {"requests: [{name: a, http: {bodyFrom: {secret: {name: loadtest-body, key: a}}}}]", ""},

		"labels, in their order": {`worker: {nodeSelector: {a: "", b: "", c: "", d: "", e: "", f: "", g: "", h: ""}}`,
			label + strings.Join(strings.Split("abcdefgh", ""), keys+" "+label) + keys},
		"a node":        {"worker: {nodeSelector: {kubernetes.io/hostname: node-1, kubernetes.io/arch: arm64}}", label + "kubernetes.io/hostname" + keys},
		"a label":       {"worker: {labels: {app: shop}}", "spec.worker.labels: label app" + none + "use team, or " + ask + "labelKeys" + rule},
		"an annotation": {"worker: {annotations: {linkerd.io/inject: disabled}}", "spec.worker.annotations: annotation linkerd.io/inject" + none + "use sidecar.istio.io/*, or " + ask + "annotationKeys" + rule},
		"a pull policy": {"worker: {imagePullPolicy: Always}", "spec.worker.imagePullPolicy: Always" + none + "or " + ask + "pullPolicies" + rule},
		"a label that no pod can have": {`worker: {labels: {team: a b}}`,
			`spec.worker.labels: "team": "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?').`},
		"a label of the operator and of Jobs, and a profile": {`worker: {labels: {loadtest.dev/run: a, job-name: b, app.kubernetes.io/managed-by: c, batch.kubernetes.io/job-name: d},
			annotations: {container.apparmor.security.beta.kubernetes.io/worker: unconfined}}`, "*"},
		"the priority of the system": {"worker: {priorityClassName: system-node-critical}", "spec.worker.priorityClassName: system-node-critical" + none + "use load-*, or " + ask + "priorityClasses" + rule},
		"a Secret to pull with":      {"worker: {imagePullSecrets: [loadtest-registry, registry]}", "spec.worker.imagePullSecrets[1]: Secret registry" + none + "use loadtest-*, or " + ask + "secrets" + rule},
		"an image": {"worker: {image: evil.example/miner}",
			"spec.worker.image: evil.example/miner is not allowed in namespace demo; leave it out to use the image of the release, use registry.example.com/perf/*, or " + ask + "images" + rule},
		"two tolerations": {"worker: {tolerations: [{operator: Exists}, {key: load}, {key: gpu}]}",
			"spec.worker.tolerations[0]: every taint" + none + "use load, or " + ask + "tolerationKeys" + rule + " spec.worker.tolerations[2]: taint gpu" + none + "use load, or " + ask + "tolerationKeys" + rule},
		"Secrets": {"{target: {tls: {clientCertificate: {secretName: identity}}}, requests: [{name: a, http: {bodyFrom: {secret: {name: db, key: password}}}}]}",
			"spec names Secret db" + use + "secrets" + rule + " spec names Secret identity" + use + "secrets" + rule},
		"responses beside Secrets that are sent": {`{expose: Responses, data: [{name: rows, from: {secret: {name: loadtest-rows, key: a}}}],
			target: {headers: [{name: A, valueFrom: {secret: {name: loadtest-api, key: a}}}]}}`,
			"spec.expose: Responses is not allowed in namespace demo beside values of Secret loadtest-api, Secret loadtest-rows" + expose},
		"responses beside a claim that is sent": {"{expose: Responses, requests: [{name: a, http: {" + claim + "}}]}",
			"spec.expose: Responses is not allowed in namespace demo beside values of PersistentVolumeClaim loadtest-data" + expose},
		"a claim that is not for load tests":    {"requests: [{name: a, http: {bodyFrom: {volume: {claim: data, path: a}}}}]", "spec names PersistentVolumeClaim data" + use + "claims" + rule},
		"more than a worker may have":           {"worker: {resources: {requests: {cpu: 4001m}}}", "spec.worker.resources.requests: cpu of 4001m is more than a worker of namespace demo may have; ask for 4 or less."},
		"a resource without a name in the rule": {`worker: {resources: {limits: {nvidia.com/gpu: "1"}}}`, "spec.worker.resources.limits: resource nvidia.com/gpu" + none + "or " + ask + "resources" + rule},
		"a claim of a device":                   {"worker: {resources: {claims: [{name: gpu}]}}", "spec.worker.resources.claims: must be empty; workers have no resource claims."},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Load([]byte(workerRules))
			must.Succeed(t, err)
			lt := loadTest(yamlSpec(t, tc.spec))
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
	lt := loadTest(yamlSpec(t, "{expose: Responses, requests: [{name: a, http: {bodyFrom: {secret: {name: loadtest-body, key: a}}}}]}"))
	same.As(t, "refusal", "", refusalOf(lt, p.For(lt.Namespace)))
}
