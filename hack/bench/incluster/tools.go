package incluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
)

// The tools, by their names and those of their manifests.
const (
	Ours       = "ours"
	K6Operator = "k6-operator"
	Locust     = "locust"
)

// tool is what sends the load.
type tool struct {
	name string
	// control is the namespace of its operator; empty: it has none.
	control string
	// worker are labels of the pods that send requests, of which no other pod of it has one.
	worker [2]string
	// ended says whether its test has.
	ended func(context.Context, *run) (bool, error)
	// said reads what it says of the test.
	said func(context.Context, *run) (Said, error)
}

var tools = map[string]tool{
	Ours: {
		name: Ours, control: deploy.OperatorNamespace, worker: [2]string{"loadtest.dev/name", object}, said: oursSaid,
		ended: func(ctx context.Context, r *run) (bool, error) {
			lt, err := r.loadTest(ctx)
			return lt.Status.Phase == v1beta1.PhaseFinished, err
		},
	},
	K6Operator: {
		name: K6Operator, control: k6Namespace, worker: [2]string{"runner", "true"}, said: k6Said,
		ended: func(ctx context.Context, r *run) (bool, error) {
			stage, err := r.stage(ctx)
			return stage == "finished" || stage == "error", err
		},
	},
	Locust: {
		name: Locust, worker: [2]string{"job-name", "locust-worker"}, said: locustSaid,
		ended: func(_ context.Context, r *run) (bool, error) {
			master, ok := r.master()
			return ok && over(&master), nil
		},
	},
}

// object is the name of the LoadTest, and of the TestRun.
const object = "peers"

// loadTest reads ours.
func (r *run) loadTest(ctx context.Context) (*v1beta1.LoadTest, error) {
	lt := &v1beta1.LoadTest{}
	return lt, r.api.get(ctx, "/apis/loadtest.dev/v1beta1/namespaces/"+Namespace+"/loadtests/"+object, lt)
}

func oursSaid(ctx context.Context, r *run) (Said, error) {
	lt, err := r.loadTest(ctx)
	return fromOurs(lt), err
}

// stage is that of the TestRun.
func (r *run) stage(ctx context.Context) (string, error) {
	var testRun struct{ Status struct{ Stage string } }
	err := r.api.get(ctx, "/apis/k6.io/v1alpha1/namespaces/"+Namespace+"/testruns/"+object, &testRun)
	return testRun.Status.Stage, err
}

// k6Said adds up what the runners say: k6-operator itself has a stage, and Jobs.
func k6Said(ctx context.Context, r *run) (Said, error) {
	stage, err := r.stage(ctx)
	s := Said{Words: []string{"TestRun: stage " + stage}}
	errs := []error{err}
	var jobs batchv1.JobList
	errs = append(errs, r.api.get(ctx, "/apis/batch/v1/namespaces/"+Namespace+"/jobs?labelSelector=runner%3Dtrue", &jobs))
	for _, job := range jobs.Items {
		for _, c := range job.Status.Conditions {
			if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
				s.Words = append(s.Words, strings.TrimSpace(fmt.Sprintf("Job %s: %s %s", job.Name, c.Type, c.Reason)))
			}
		}
	}
	for _, p := range r.present {
		if !r.isWorker(&p) {
			continue
		}
		s.Words = append(s.Words, exit(&p)...)
		log, err := r.log(ctx, p.Name)
		if err == nil {
			var one Said
			one, err = fromK6(log)
			s = s.and(one)
		}
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// master is the pod of Locust's master.
func (r *run) master() (corev1.Pod, bool) {
	i := slices.IndexFunc(r.present, func(p corev1.Pod) bool { return p.Labels["job-name"] == "locust-master" })
	if i < 0 {
		return corev1.Pod{}, false
	}
	return r.present[i], true
}

func locustSaid(ctx context.Context, r *run) (Said, error) {
	master, ok := r.master()
	if !ok {
		return Said{}, errors.New("there is no master")
	}
	log, err := r.log(ctx, master.Name)
	if err != nil {
		return Said{}, err
	}
	s, err := fromLocust(log)
	s.Words = append(exit(&master), s.Words...)
	return s, err
}

// log is what the only container of a pod printed.
func (r *run) log(ctx context.Context, pod string) (string, error) {
	text, err := r.api.text(ctx, podPath+"/"+pod+"/log")
	return string(text), err
}

// exit says how the container of a pod ended, if it has.
func exit(p *corev1.Pod) (words []string) {
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			words = append(words, fmt.Sprintf("pod %s: exit code %d", cmp.Or(p.Labels["job-name"], p.Name), t.ExitCode))
		}
	}
	return words
}

const (
	k6Namespace = "k6-operator-system"
	// k6Module is in whose folder k6-operator publishes its objects, as bundle.yaml.
	k6Module = "github.com/grafana/k6-operator"
	k6Image  = "loadtest.dev/k6-operator:dev"
)

// k6Bundle is the published bundle of k6-operator, of the version that hack/components pins, with the
// image that is built here in the place of the one of its registry.
func k6Bundle(ctx context.Context, root string) (text, version string, err error) {
	c := exec.CommandContext(ctx, "go", "-C", filepath.Join(root, "hack", "components", K6Operator), "mod", "download", "-json", k6Module)
	out, err := c.Output()
	if err != nil {
		return "", "", fmt.Errorf("download the module of k6-operator: %w: %s", err, out)
	}
	var module struct{ Version, Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return "", "", fmt.Errorf("download the module of k6-operator: %w", err)
	}
	bundle, err := os.ReadFile(filepath.Join(module.Dir, "bundle.yaml"))
	if err != nil {
		return "", "", fmt.Errorf("read k6-operator's bundle: %w", err)
	}
	text, err = withOurImage(string(bundle), module.Version)
	return text, module.Version, err
}

// withOurImage is a bundle whose image is the one that is built here.
func withOurImage(bundle, version string) (string, error) {
	published := "ghcr.io/grafana/k6-operator:controller-" + version
	if n := strings.Count(bundle, published); n != 1 {
		return "", fmt.Errorf("k6-operator's bundle names the image %s %d times, want once", published, n)
	}
	return strings.Replace(bundle, published, k6Image, 1), nil
}
