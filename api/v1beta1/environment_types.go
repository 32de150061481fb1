package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EnvironmentStatus is what was tested: the pods behind the target's Service, as they were
// read at the beginning and at the end of each step. What differs between readings stands
// in the steps.
type EnvironmentStatus struct {
	// configurations are what the pods ran, each as it was first read. A run of one target
	// that is not changed has one. Configurations for which there is no room are left out.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Configurations []TargetConfiguration `json:"configurations,omitempty"`
	// nodes are those on which pods of the target ran.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=253
	Nodes []string `json:"nodes,omitempty"`
	// sharedNodes are the nodes on which a worker ran as well: it and the target shared the
	// node's processors and its network.
	// +optional
	// +listType=map
	// +listMapKey=node
	// +kubebuilder:validation:MaxItems=32
	SharedNodes []SharedNode `json:"sharedNodes,omitempty"`
	// usage says that steps have what the pods used.
	// +optional
	Usage bool `json:"usage,omitempty"`
}

// TargetConfiguration is what the pods of a target's Service run.
type TargetConfiguration struct {
	// id names the configuration in the readings of steps: equal ids are equal
	// configurations.
	// +required
	// +kubebuilder:validation:MaxLength=16
	ID string `json:"id"`
	// service is the target's Service.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Service string `json:"service"`
	// containers are the containers of the pods, each once. In the middle of a rollout there are
	// two of a name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Containers []TargetContainer `json:"containers,omitempty"`
	// templates are the hashes of the templates that the pods were made of, each once: the
	// labels pod-template-hash, or controller-revision-hash, which workloads give their
	// pods. Another one has other variables, arguments, volumes or annotations. Absent: no
	// pod has such a label.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=63
	Templates []string `json:"templates,omitempty"`
	// autoscaler is the HorizontalPodAutoscaler of the pods' workload. Absent: there is
	// none, or it may not be read.
	// +optional
	Autoscaler *TargetAutoscaler `json:"autoscaler,omitempty"`
}

// TargetContainer is a container of a target's pods.
type TargetContainer struct {
	// name is the container's name.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// image is the image as the pod names it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Image string `json:"image,omitempty"`
	// digest is the digest of the image that runs: sha256:9f86d0…
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Digest string `json:"digest,omitempty"`
	// limits are the limits of its resources: "cpu 500m, memory 256Mi". Absent: none.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Limits string `json:"limits,omitempty"`
}

// TargetAutoscaler is what scales a target.
type TargetAutoscaler struct {
	// name is the HorizontalPodAutoscaler's name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// min is the least number of pods, max the greatest.
	// +optional
	Min int32 `json:"min,omitempty"`
	// max is the greatest number of pods.
	// +optional
	Max int32 `json:"max,omitempty"`
}

// SharedNode is a node on which both the target and workers ran.
type SharedNode struct {
	// node is the node's name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node"`
	// workers is the number of workers that ran there.
	// +optional
	Workers int32 `json:"workers,omitempty"`
}

// StepEnvironment is what was behind the target's Service in a step.
type StepEnvironment struct {
	// before is the reading before the step, after the one when its last report was in.
	// +optional
	Before *EnvironmentReading `json:"before,omitempty"`
	// after is the reading when the last report of the step was in.
	// +optional
	After *EnvironmentReading `json:"after,omitempty"`
	// changes are what differs between the readings of the step, and from the latest one
	// before it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Changes []EnvironmentChange `json:"changes,omitempty"`
	// usage is what the pods used.
	// +optional
	Usage *StepUsage `json:"usage,omitempty"`
}

// EnvironmentReading is what was read of the pods behind a Service at an instant.
type EnvironmentReading struct {
	// time is when it was read.
	// +required
	Time metav1.MicroTime `json:"time"`
	// problem is why nothing could be read. All else is absent then.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Problem string `json:"problem,omitempty"`
	// configuration is the id of what the pods ran. Absent if none had started.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Configuration string `json:"configuration,omitempty"`
	// templates is equal in two readings whose pods were made of the same templates, those
	// that had not started among them. Absent: no template was known.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Templates string `json:"templates,omitempty"`
	// pods is how many there were, those that were being deleted or had ended left out.
	// +optional
	Pods int32 `json:"pods,omitempty"`
	// ready is the number of them that were ready.
	// +optional
	Ready int32 `json:"ready,omitempty"`
	// unread is the number of pods beyond those that are read.
	// +optional
	Unread int32 `json:"unread,omitempty"`
	// restarts is how often their containers had restarted.
	// +optional
	Restarts int64 `json:"restarts,omitempty"`
	// identity is equal in two readings of the same pods.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Identity string `json:"identity,omitempty"`
}

// EnvironmentChange is what became of the pods behind a Service.
type EnvironmentChange struct {
	// reason is the kind of change.
	// +required
	Reason EnvironmentChangeReason `json:"reason"`
	// spoils is what says nothing any more because of it. Absent: everything does.
	// +optional
	Spoils Spoiled `json:"spoils,omitempty"`
	// message is the change in a sentence.
	// +required
	// +kubebuilder:validation:MaxLength=320
	Message string `json:"message"`
}

// EnvironmentChangeReason is a kind of change.
//
// +kubebuilder:validation:Enum=TargetReconfigured;TargetScaled;TargetRestarted;TargetReplaced
type EnvironmentChangeReason string

const (
	// TargetReconfigured is other images, limits or pod templates, of pods that have not
	// started, too, or an autoscaler with other bounds.
	TargetReconfigured EnvironmentChangeReason = "TargetReconfigured"
	// TargetScaled is another number of pods.
	TargetScaled EnvironmentChangeReason = "TargetScaled"
	// TargetRestarted is containers that restarted: what failed then failed by the
	// target's doing, and counts.
	TargetRestarted EnvironmentChangeReason = "TargetRestarted"
	// TargetReplaced is other pods of the same images and limits, and of the same
	// templates, as far as they are known.
	TargetReplaced EnvironmentChangeReason = "TargetReplaced"
)

// Spoiled is what says nothing any more.
//
// +kubebuilder:validation:Enum=Step;Run
type Spoiled string

const (
	// SpoiledStep is the figures of the step: they are of no one configuration. What is
	// judged by them is Inconclusive.
	SpoiledStep Spoiled = "Step"
	// SpoiledRun is the run as a whole: each step is of one configuration, but not all of
	// the same. A breach stands; the run does not pass.
	SpoiledRun Spoiled = "Run"
)

// TargetChanged says whether the target was changed within the step, so that its figures
// are of no one configuration.
func (s *StepStatus) TargetChanged() bool {
	if s.Environment == nil {
		return false
	}
	for _, c := range s.Environment.Changes {
		if c.Spoils == SpoiledStep {
			return true
		}
	}
	return false
}
