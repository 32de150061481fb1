package desired

import (
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

const (
	// LabelName carries the LoadTest's name on its Job, pods and results.
	LabelName = "loadtest.dev/name"
	// LabelRun carries the LoadTest's UID on its Job, pods and results.
	LabelRun = "loadtest.dev/run"
	// Container is the name of the worker's container.
	Container = "worker"

	// nonRoot is the user that the worker's image has.
	nonRoot = 65532
)

// Config is what all Jobs of an operator have in common.
type Config struct {
	// WorkerImage is used where the LoadTest names none.
	WorkerImage string
	// Coordinator is the host:port that workers dial.
	Coordinator string
	// CA is the certificate, in PEM, by which workers verify the coordinator.
	CA string
}

// labels are those of everything that is made for a run.
func labels(lt *v1beta1.LoadTest) map[string]string {
	return map[string]string{
		"app.kubernetes.io/managed-by": "loadtest-operator",
		LabelName:                      lt.Name,
		LabelRun:                       string(lt.UID),
	}
}

// owners is the LoadTest. It is not kept while what it owns is there: to ask for that, the
// operator would need a right to update LoadTests.
func owners(lt *v1beta1.LoadTest) []metav1.OwnerReference {
	owner := metav1.NewControllerRef(lt, v1beta1.GroupVersion.WithKind("LoadTest"))
	owner.BlockOwnerDeletion = nil
	return []metav1.OwnerReference{*owner}
}

// Job is the run's Job: one pod for each worker, none of them ever replaced,
// because a worker that began again would count twice or measure a hole.
func Job(lt *v1beta1.LoadTest, cfg Config) *batchv1.Job {
	labels := labels(lt)
	n := lt.Status.Workers.Desired
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name: lt.Name, Namespace: lt.Namespace, Labels: labels,
			OwnerReferences: owners(lt),
		},
		Spec: batchv1.JobSpec{
			Parallelism:           &n,
			Completions:           &n,
			CompletionMode:        ptr.To(batchv1.IndexedCompletion),
			ActiveDeadlineSeconds: ptr.To(int64(deadline(lt).Seconds())),
			// Per index, and not for the Job as a whole: the whole one would have the
			// other workers killed when one fails.
			BackoffLimitPerIndex: ptr.To[int32](0),
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			Template:             corev1.PodTemplateSpec{ObjectMeta: podMetadata(lt.Spec.Worker, labels), Spec: pod(lt, cfg, labels)},
		},
	}
}

// allowance is how much longer than its run a Job may live: the time for which a run may
// be held, or its operator be away.
const allowance = 24 * time.Hour

// deadline bounds the life of a Job that the operator does not delete: the run takes no
// longer even if everything takes as long as it may.
func deadline(lt *v1beta1.LoadTest) time.Duration {
	if seconds := lt.Spec.ActiveDeadlineSeconds; seconds != nil {
		return allowance + time.Duration(*seconds)*time.Second
	}
	sum := allowance
	if seconds := lt.Spec.StartDeadlineSeconds; seconds != nil {
		sum += time.Duration(*seconds) * time.Second
	}
	for i := range lt.Status.Audits {
		sum += 2 * lt.Status.Audits[i].MaxWait.Duration // before the steps and after them
	}
	for _, step := range plan.Foreseen(&lt.Spec, &lt.Status) {
		for _, length := range []*metav1.Duration{step.TimeLimit, step.Load.Pause} {
			if length != nil {
				sum += length.Duration
			}
		}
	}
	return sum
}

// podMetadata has what the spec adds, and the operator's own labels whatever it adds.
func podMetadata(w *v1beta1.Worker, own map[string]string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Labels: map[string]string{}}
	if w != nil {
		maps.Copy(m.Labels, w.Labels)
		m.Annotations = maps.Clone(w.Annotations)
	}
	maps.Copy(m.Labels, own)
	return m
}

func pod(lt *v1beta1.LoadTest, cfg Config, labels map[string]string) corev1.PodSpec {
	w := lt.Spec.Worker
	if w == nil {
		w = &v1beta1.Worker{}
	}
	volumes, mounts := volumes(&lt.Spec)
	return corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		NodeSelector:                 maps.Clone(w.NodeSelector),
		Tolerations:                  slices.Clone(w.Tolerations),
		// A worker that is told to go sends what it measured first.
		TerminationGracePeriodSeconds: ptr.To[int64](30),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   ptr.To(true),
			RunAsUser:      ptr.To[int64](nonRoot),
			RunAsGroup:     ptr.To[int64](nonRoot),
			FSGroup:        ptr.To[int64](nonRoot),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		TopologySpreadConstraints: spread(labels[LabelRun]),
		Affinity:                  apart(w, labels[LabelRun]),
		PriorityClassName:         w.PriorityClassName,
		ImagePullSecrets:          pullSecrets(w),
		DNSConfig:                 resolver(w),
		Containers:                []corev1.Container{container(lt, cfg, w, mounts)},
		Volumes:                   volumes,
	}
}

// spread has workers spread over nodes as far as there are any: a node's ports, descriptors
// and CPU are shared by the workers on it. A second constraint, on a label that nodes lack,
// would leave these without a score by the first: the scheduler ignores nodes that lack any key.
func spread(run string) []corev1.TopologySpreadConstraint {
	return []corev1.TopologySpreadConstraint{{
		MaxSkew:           1,
		TopologyKey:       corev1.LabelHostname,
		WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector:     ofRun(run),
	}}
}

func ofRun(run string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{LabelRun: run}}
}

// apart prefers nodes without certain pods, and then values of a label with fewer workers. Were it
// required, no such pod could come to the node of a worker either, and an update of the target
// would wait for the end of the test.
func apart(w *v1beta1.Worker, run string) *corev1.Affinity {
	const most, less = 100, 10 // of the weights that there are
	var terms []corev1.WeightedPodAffinityTerm
	add := func(weight int32, key string, from *metav1.LabelSelector) {
		terms = append(terms, corev1.WeightedPodAffinityTerm{Weight: weight, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: from}})
	}
	if len(w.AwayFrom) > 0 {
		add(most, corev1.LabelHostname, &metav1.LabelSelector{MatchLabels: maps.Clone(w.AwayFrom)})
	}
	if w.SpreadOver != "" {
		add(less, w.SpreadOver, ofRun(run))
	}
	if len(terms) == 0 {
		return nil
	}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: terms}}
}

func pullSecrets(w *v1beta1.Worker) (all []corev1.LocalObjectReference) {
	for _, name := range w.ImagePullSecrets {
		all = append(all, corev1.LocalObjectReference{Name: name})
	}
	return all
}

func resolver(w *v1beta1.Worker) *corev1.PodDNSConfig {
	if w.Ndots == nil {
		return nil
	}
	return &corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptr.To(strconv.Itoa(int(*w.Ndots)))}}}
}

func container(lt *v1beta1.LoadTest, cfg Config, w *v1beta1.Worker, mounts []corev1.VolumeMount) corev1.Container {
	c := corev1.Container{
		Name:            Container,
		Image:           w.Image,
		ImagePullPolicy: w.ImagePullPolicy,
		Env: []corev1.EnvVar{
			{Name: "LOADTEST_COORDINATOR", Value: cfg.Coordinator},
			{Name: "LOADTEST_COORDINATOR_CA", Value: cfg.CA},
			{Name: "LOADTEST_TOKEN_FILE", Value: tokenDir + "/token"},
			{Name: "LOADTEST_RUN", Value: string(lt.UID)},
		},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("100m"),
			corev1.ResourceMemory: resource.MustParse("128Mi"),
		}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			ReadOnlyRootFilesystem:   ptr.To(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: mounts,
		// What the worker writes there itself is its reason. A line of its log, or of another
		// image's, is nothing for a status.
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}
	if c.Image == "" {
		c.Image = cfg.WorkerImage
	}
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = corev1.PullIfNotPresent
	}
	if w.Resources != nil {
		c.Resources = *w.Resources.DeepCopy()
	}
	return c
}
