package desired

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files")

func loadTest(worker *v1alpha1.Worker) *v1alpha1.LoadTest {
	lt := &v1alpha1.LoadTest{Spec: v1alpha1.LoadTestSpec{Worker: worker}}
	lt.Name, lt.Namespace, lt.UID = "shortener-reads", "team-a", "8b0c9f6e-6c3d-4d52-8ad2-5a2b7e3f4a10"
	lt.Status.Workers.Desired = 3
	return lt
}

var config = Config{
	WorkerImage: "loadtest.dev/worker:dev",
	Coordinator: "loadtest-operator-coordinator.loadtest-system.svc:9443",
	CA:          "-----BEGIN CERTIFICATE-----\n...\n-----END CERTIFICATE-----\n",
}

func TestJob(t *testing.T) {
	for name, worker := range map[string]*v1alpha1.Worker{
		"default": nil,
		"adjusted": {
			Image:           "registry.example.com/worker:v1",
			ImagePullPolicy: corev1.PullAlways,
			NodeSelector:    map[string]string{"pool": "load"},
			Tolerations:     []corev1.Toleration{{Key: "load", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
			Resources: &corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(Job(loadTest(worker), config))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "job-"+name+".yaml")
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("Job differs (-want +got):\n%s", diff)
			}
		})
	}
}

// A Job that changed between two passes would be another Job: nothing random
// and no map order may reach it.
func TestJobIsDeterministic(t *testing.T) {
	lt := loadTest(&v1alpha1.Worker{NodeSelector: map[string]string{"a": "1", "b": "2", "c": "3"}})
	first, err := yaml.Marshal(Job(lt, config))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := yaml.Marshal(Job(lt.DeepCopy(), config))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(again)); diff != "" {
			t.Fatalf("Job differs between two calls (-first +again):\n%s", diff)
		}
	}
}

// The Job must not share memory with the LoadTest, which comes from a cache.
func TestJobLeavesTheLoadTestAlone(t *testing.T) {
	lt := loadTest(&v1alpha1.Worker{Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}})
	before := lt.DeepCopy()
	job := Job(lt, config)
	job.Labels["x"] = "y"
	job.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("9")
	if diff := cmp.Diff(before, lt); diff != "" {
		t.Errorf("the LoadTest changed (-before +after):\n%s", diff)
	}
	if _, ok := job.Spec.Template.Labels["x"]; ok {
		t.Error("Job and pod template share their labels")
	}
}

// A worker holds no credential but its token for the coordinator, and meets the
// restricted Pod Security Standard.
func TestWorkersAreRestricted(t *testing.T) {
	pod := Job(loadTest(nil), config).Spec.Template.Spec
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Error("the service-account token is mounted")
	}
	for _, v := range pod.Volumes {
		for _, s := range v.Projected.Sources {
			if s.ServiceAccountToken == nil || s.ServiceAccountToken.Audience != Audience {
				t.Errorf("volume %s holds something else than the coordinator's token", v.Name)
			}
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
