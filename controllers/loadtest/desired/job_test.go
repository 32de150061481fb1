package desired

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func loadTest(worker *v1beta1.Worker) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{Worker: worker}}
	lt.Name, lt.Namespace, lt.UID = "shortener-reads", "team-a", "8b0c9f6e-6c3d-4d52-8ad2-5a2b7e3f4a10"
	lt.Status.Workers.Desired = 3
	return lt
}

var config = Config{
	WorkerImage: "loadtest.dev/worker:dev",
	Coordinator: "loadtest-operator-leader.loadtest-system.svc:9443",
	CA:          "-----BEGIN CERTIFICATE-----\n...\n-----END CERTIFICATE-----\n",
}

func TestJob(t *testing.T) {
	for name, lt := range map[string]*v1beta1.LoadTest{
		"default": loadTest(nil),
		"files":   withFiles(),
		"adjusted": loadTest(&v1beta1.Worker{
			Image:           "registry.example.com/worker:v1",
			ImagePullPolicy: corev1.PullAlways,
			NodeSelector:    map[string]string{"pool": "load"},
			Tolerations:     []corev1.Toleration{{Key: "load", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
			Resources: &corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
			},
		}),
		"placed": loadTest(&v1beta1.Worker{
			Labels: map[string]string{"team": "a", LabelRun: "forged"}, Annotations: map[string]string{"linkerd.io/inject": "disabled"},
			PriorityClassName: "load", ImagePullSecrets: []string{"loadtest-registry"}, SpreadOver: corev1.LabelTopologyZone,
			AwayFrom: map[string]string{"app": "shortener"}, Ndots: ptr.To[int32](1),
		}),
	} {
		t.Run(name, func(t *testing.T) { check(t, "job-"+name, Job(lt, config)) })
	}
}

// check compares an object with the file of that name.
func check(t *testing.T, name string, object any) {
	t.Helper()
	got, err := yaml.Marshal(object)
	must.Succeed(t, err)
	golden.Check(t, filepath.Join("testdata", name+".yaml"), string(got))
}

// withFiles names keys of two ConfigMaps and two Secrets, one of them twice.
func withFiles() *v1beta1.LoadTest {
	lt := loadTest(nil)
	token := v1beta1.Header{Name: "Authorization", ValueFrom: &v1beta1.HeaderSource{Secret: v1beta1.KeyReference{Name: "loadtest-api", Key: "token"}}}
	lt.Spec.Target = v1beta1.Target{
		URL: "https://shortener", Headers: []v1beta1.Header{token},
		TLS: &v1beta1.TLS{
			CA:                &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "trust", Key: "ca.crt"}},
			ClientCertificate: &v1beta1.ClientCertificate{SecretName: "loadtest-client"},
		},
	}
	lt.Spec.Requests = []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{Headers: []v1beta1.Header{token}}}}
	lt.Spec.Data = []v1beta1.Data{
		{Name: "urls", From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "rows", Key: "urls.csv"}}},
		{Name: "users", From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "rows", Key: "users.csv"}}},
	}
	return lt
}

// The names of files are the user's: what they have in common must not merge a
// ConfigMap with a Secret.
func TestConfigMapsAndSecretsOfOneNameStayApart(t *testing.T) {
	lt := loadTest(nil)
	ref := &v1beta1.KeyReference{Name: "shared", Key: "a"}
	lt.Spec.Requests = []v1beta1.Request{
		{Name: "home", HTTP: &v1beta1.HTTPRequest{BodyFrom: &v1beta1.Content{ConfigMap: ref}}}, {Name: "home-2", HTTP: &v1beta1.HTTPRequest{BodyFrom: &v1beta1.Content{Secret: ref}}},
	}
	got := Job(lt, config).Spec.Template.Spec.Volumes[1].Projected.Sources
	name := corev1.LocalObjectReference{Name: "shared"}
	want := []corev1.VolumeProjection{
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: name, Items: []corev1.KeyToPath{{Key: "a", Path: "configmaps/shared/a"}}}},
		{Secret: &corev1.SecretProjection{LocalObjectReference: name, Items: []corev1.KeyToPath{{Key: "a", Path: "secrets/shared/a"}}}},
	}
	same.As(t, "sources", want, got)
}

// A claim is mounted once and to read, whatever number of its files a spec names.
func TestClaimsAreMountedOnceAndToRead(t *testing.T) {
	lt := loadTest(nil)
	for i, path := range []string{"b.csv", "a/a.csv"} {
		from := v1beta1.Content{Volume: &v1beta1.VolumeFile{Claim: "loadtest-rows", Path: path}}
		lt.Spec.Data = append(lt.Spec.Data, v1beta1.Data{Name: fmt.Sprint("d", i), From: from, Format: v1beta1.DataFormatCSV})
	}
	pod := Job(lt, config).Spec.Template.Spec
	claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "loadtest-rows", ReadOnly: true}
	same.As(t, "volumes", []corev1.Volume{{Name: "claim-0", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}}}, pod.Volumes[1:])
	same.As(t, "mounts", []corev1.VolumeMount{{Name: "claim-0", MountPath: "/var/run/loadtest-volumes/claims/loadtest-rows", ReadOnly: true}}, pod.Containers[0].VolumeMounts[1:])
}

// A single file is mounted, and a run waits twice for the numbers of its audits.
func TestWhatOneFileAndOneAuditNeed(t *testing.T) {
	lt := loadTest(nil)
	without := *Job(lt, config).Spec.ActiveDeadlineSeconds
	lt.Spec.Requests = []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{BodyFrom: &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "a", Key: "b"}}}}}
	lt.Status.Audits = []v1beta1.AuditStatus{{MaxWait: metav1.Duration{Duration: time.Minute}}}
	job := Job(lt, config)
	if n, longer := len(job.Spec.Template.Spec.Volumes), *job.Spec.ActiveDeadlineSeconds-without; n != 2 || longer != 120 {
		t.Errorf("%d volumes, and %d s more; want 2 and 120", n, longer)
	}
}

// A Job that changed between two passes would be another Job: nothing random
// and no map order may reach it.
func TestJobIsDeterministic(t *testing.T) {
	lt := loadTest(&v1beta1.Worker{NodeSelector: map[string]string{"a": "1", "b": "2", "c": "3"}})
	first, err := yaml.Marshal(Job(lt, config))
	must.Succeed(t, err)
	for range 20 {
		again, err := yaml.Marshal(Job(lt.DeepCopy(), config))
		must.Succeed(t, err)
		if diff := cmp.Diff(string(first), string(again)); diff != "" {
			t.Fatalf("Job differs between two calls (-first +again):\n%s", diff)
		}
	}
}

// The Job must not share memory with the LoadTest, which comes from a cache.
func TestJobLeavesTheLoadTestAlone(t *testing.T) {
	lt := loadTest(&v1beta1.Worker{Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}})
	before := lt.DeepCopy()
	job := Job(lt, config)
	job.Labels["x"] = "y"
	job.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("9")
	same.As(t, "the LoadTest, which must not change", before, lt)
	if _, ok := job.Spec.Template.Labels["x"]; ok {
		t.Error("Job and pod template share their labels")
	}
}

// A worker holds no credential but its token for the coordinator, and meets the
// restricted Pod Security Standard.
func TestWorkersAreRestricted(t *testing.T) {
	for name, lt := range map[string]*v1beta1.LoadTest{"default": loadTest(nil), "files": withFiles()} {
		t.Run(name, func(t *testing.T) { restricted(t, Job(lt, config).Spec.Template.Spec) })
	}
}

func restricted(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Error("the service-account token is mounted")
	}
	for _, v := range pod.Volumes {
		if v.Projected == nil {
			t.Fatalf("volume %s is not projected", v.Name)
		}
		for _, s := range v.Projected.Sources {
			if s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience != workerv1.Audience {
				t.Errorf("volume %s holds a token for another than the coordinator", v.Name)
			}
			// Without items, all keys of the object would be mounted.
			if s.Secret != nil && len(s.Secret.Items) == 0 || s.ConfigMap != nil && len(s.ConfigMap.Items) == 0 {
				t.Errorf("volume %s holds keys that nothing names", v.Name)
			}
		}
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !m.ReadOnly {
			t.Errorf("volume %s can be written", m.Name)
		}
	}
	c := pod.Containers[0].SecurityContext
	if *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem || len(c.Capabilities.Drop) != 1 || c.Capabilities.Drop[0] != "ALL" {
		t.Errorf("container security context is %+v", c)
	}
	if !*pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("pod security context is %+v", pod.SecurityContext)
	}
}

// A Job that the operator cannot look after ends by itself, a day after its run would
// have ended at the latest.
func TestDeadlineOfTheJob(t *testing.T) {
	length := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	lt := loadTest(nil)
	lt.Spec.StartDeadlineSeconds = ptr.To[int64](300)
	lt.Status.Steps = []v1beta1.StepStatus{{TimeLimit: length(time.Hour)}, {Load: v1beta1.StepLoad{Pause: length(10 * time.Second)}}, {TimeLimit: length(25 * time.Hour)}}
	const day = 86_400
	same.As(t, "deadline in seconds", int64(day+300+3600+10+25*3600), *Job(lt, config).Spec.ActiveDeadlineSeconds)
	lt.Spec.ActiveDeadlineSeconds = ptr.To[int64](600)
	same.As(t, "deadline in seconds, with activeDeadlineSeconds", int64(day+600), *Job(lt, config).Spec.ActiveDeadlineSeconds)
}
