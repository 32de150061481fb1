package loadtest_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	standards "k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// workerFields are values of every field of spec.worker, good and bad ones.
var workerFields = map[string][]any{
	"Image":           {"", "a", "evil.example/root:latest", "../../etc", "a\nb", "@sha256:0"},
	"ImagePullPolicy": {corev1.PullPolicy(""), corev1.PullAlways, corev1.PullNever, corev1.PullPolicy("Root")},
	"Resources": {
		(*corev1.ResourceRequirements)(nil), &corev1.ResourceRequirements{},
		&corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1"), "nvidia.com/gpu": resource.MustParse("1")}},
		&corev1.ResourceRequirements{Requests: corev1.ResourceList{"hugepages-2Mi": resource.MustParse("2Mi"), "memory": resource.MustParse("-1")}},
		&corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "device"}}},
	},
	"Driver":       {v1beta1.Driver(""), v1beta1.DriverAuto, v1beta1.DriverVegeta},
	"NodeSelector": {map[string]string(nil), map[string]string{}, map[string]string{"node-role.kubernetes.io/control-plane": ""}, map[string]string{"": "\x00"}},
	"Tolerations": {[]corev1.Toleration(nil), []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		[]corev1.Toleration{{Key: "a", Operator: "Is", Value: "b", Effect: "Never", TolerationSeconds: ptr.To[int64](-1)}}},
	"Labels": {
		map[string]string(nil), map[string]string{"team": "a"}, map[string]string{desired.LabelRun: "forged"}, map[string]string{"job-name": "a"}, map[string]string{"a b": "\x00"},
	},
	"Annotations": {
		map[string]string(nil), map[string]string{"linkerd.io/inject": "disabled"}, map[string]string{"container.apparmor.security.beta.kubernetes.io/worker": "unconfined"}, map[string]string{"": "\n"},
	},
	"PriorityClassName": {"", "system-node-critical", "a\nb"},
	"ImagePullSecrets":  {[]string(nil), []string{"loadtest-registry"}, []string{""}, []string{"../a"}},
	"SpreadOver":        {"", corev1.LabelTopologyZone, corev1.LabelHostname, "a b"},
	"AwayFrom":          {map[string]string(nil), map[string]string{"app": "shop"}, map[string]string{"": ""}},
	"Ndots":             {(*int32)(nil), ptr.To[int32](1), ptr.To[int32](-1)},
	"OnLoss":            {v1beta1.LossPolicy(""), v1beta1.LossContinue, v1beta1.LossStop},
}

// names are those of ConfigMaps, Secrets and their keys, good and bad ones.
var names = []string{"a", "a.b", "..data", "..", "../../../var/run", "/etc/passwd", "a/b", "A_b", "", "var-run-secrets"}

// TestPodsOfAcceptedSpecsAreRestricted has the API server admit specs, one field after
// another and in combinations, and holds the Job of each that is accepted under rules that
// allow everything to the Pod Security Standard.
func TestPodsOfAcceptedSpecsAreRestricted(t *testing.T) {
	t.Parallel()
	const combinations, seed = 300, 12
	random := rand.New(rand.NewPCG(seed, 0))
	var specs []v1beta1.LoadTestSpec
	worker := reflect.TypeFor[v1beta1.Worker]()
	for i := range worker.NumField() {
		values := workerFields[worker.Field(i).Name]
		if len(values) == 0 {
			t.Errorf("spec.worker.%s: no value is tried", worker.Field(i).Name)
		}
		for _, value := range values {
			spec := plainSpec()
			setField(spec.Worker, i, value)
			specs = append(specs, spec)
		}
	}
	for field := range hostilePlaces {
		for _, name := range names {
			spec := plainSpec()
			hostilePlaces[field](&spec, name, name)
			specs = append(specs, spec)
		}
	}
	for range combinations {
		specs = append(specs, randomSpec(random))
	}
	accepted := 0
	for i := range specs {
		if restricted(t, fmt.Sprintf("spec %d of seed %d", i, seed), specs[i]) {
			accepted++
		}
	}
	t.Logf("%d specs, %d accepted", len(specs), accepted)
	if accepted < 100 {
		t.Errorf("%d of %d specs were accepted: too few to say anything", accepted, len(specs))
	}
}

func plainSpec() v1beta1.LoadTestSpec {
	return v1beta1.LoadTestSpec{
		Target:   v1beta1.Target{URL: "https://shortener:8080"},
		Requests: []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{Path: "/"}}},
		Ladder:   &v1beta1.Ladder{Rates: []v1beta1.Decimal{v1beta1.NewDecimal("1")}, Duration: metav1.Duration{Duration: time.Second}},
		Worker:   &v1beta1.Worker{},
	}
}

func setField(w *v1beta1.Worker, i int, value any) {
	field := reflect.ValueOf(w).Elem().Field(i)
	field.Set(reflect.ValueOf(value).Convert(field.Type()))
}

// hostilePlaces are the fields that name a file, which a pod mounts.
var hostilePlaces = map[string]func(s *v1beta1.LoadTestSpec, name, key string){
	"data": func(s *v1beta1.LoadTestSpec, name, key string) {
		s.Data = []v1beta1.Data{{Name: "d", From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: v1beta1.ObjectName(name), Key: key}}, Format: "CSV"}}
	},
	"data of a Secret": func(s *v1beta1.LoadTestSpec, name, key string) {
		s.Data = []v1beta1.Data{{Name: "d", From: *fromSecret(name, key), Format: "CSV"}}
	},
	"body": func(s *v1beta1.LoadTestSpec, name, key string) { s.Requests[0].HTTP.BodyFrom = fromSecret(name, key) },
	"header": func(s *v1beta1.LoadTestSpec, name, key string) {
		s.Requests[0].HTTP.Headers = []v1beta1.Header{{Name: "A", ValueFrom: &v1beta1.HeaderSource{Secret: *fromSecret(name, key).Secret}}}
	},
	"header of the target": func(s *v1beta1.LoadTestSpec, name, key string) {
		s.Target.Headers = []v1beta1.Header{{Name: "A", ValueFrom: &v1beta1.HeaderSource{Secret: *fromSecret(name, key).Secret}}}
	},
	"CA": func(s *v1beta1.LoadTestSpec, name, key string) {
		s.Target.TLS = &v1beta1.TLS{CA: fromSecret(name, key)}
	},
	"client certificate": func(s *v1beta1.LoadTestSpec, name, _ string) {
		s.Target.TLS = &v1beta1.TLS{ClientCertificate: &v1beta1.ClientCertificate{SecretName: v1beta1.ObjectName(name)}}
	},
	"targets": func(s *v1beta1.LoadTestSpec, name, key string) {
		s.Requests[0].HTTP.Path, s.Requests[0].HTTP.Targets = "", &v1beta1.Targets{From: *fromSecret(name, key)}
	},
}

func fromSecret(name, key string) *v1beta1.Content {
	return &v1beta1.Content{Secret: &v1beta1.KeyReference{Name: v1beta1.ObjectName(name), Key: key}}
}

func randomSpec(random *rand.Rand) v1beta1.LoadTestSpec {
	spec := plainSpec()
	worker := reflect.TypeFor[v1beta1.Worker]()
	for i := range worker.NumField() {
		values := workerFields[worker.Field(i).Name]
		if len(values) > 0 && random.IntN(2) == 0 {
			setField(spec.Worker, i, values[random.IntN(min(3, len(values)))]) // the last ones are bad
		}
	}
	for _, place := range []string{"data", "body", "header", "header of the target", "CA", "client certificate"} {
		if random.IntN(3) == 0 {
			// The first two names are good ones.
			n := 2
			if random.IntN(20) == 0 {
				n = len(names)
			}
			hostilePlaces[place](&spec, names[random.IntN(n)], names[random.IntN(n)])
		}
	}
	return spec
}

// restricted checks the pods of a spec, and says whether it is accepted.
func restricted(t *testing.T, what string, spec v1beta1.LoadTestSpec) bool {
	t.Helper()
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "restricted-"}, Spec: spec}
	if err := apiserver.Client(t).Create(t.Context(), lt, client.DryRunAll); err != nil {
		return false
	}
	planned, refusal := plan.New(lt, policy.Everything())
	if refusal != nil {
		return false
	}
	planned.Record(&lt.Status)
	lt.Name = "restricted"
	template := desired.Job(lt, desired.Config{WorkerImage: "worker:v1", Coordinator: "coordinator:9443", CA: "CA"}).Spec.Template
	evaluator, err := standards.NewEvaluator(standards.DefaultChecks(), nil)
	must.Succeed(t, err)
	level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(level, &template.ObjectMeta, &template.Spec) {
		if !result.Allowed {
			t.Errorf("%s: %s: %s\n%+v", what, result.ForbiddenReason, result.ForbiddenDetail, spec)
		}
	}
	// Beyond the standard: nothing that gives a tenant more than pods of their own. A priority class is
	// for the rules of the administrator.
	if s := template.Spec; s.ServiceAccountName != "" || s.NodeName != "" || s.SchedulerName != "" ||
		s.RuntimeClassName != nil || *s.AutomountServiceAccountToken || len(s.Containers) != 1 || len(s.InitContainers)+len(s.ResourceClaims) > 0 {
		t.Errorf("%s: the pod has what no spec may choose: %+v", what, s)
	}
	return true
}
