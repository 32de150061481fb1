package targetstate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Point is when in a step a target is read.
type Point int

const (
	// Before is as the step begins.
	Before Point = iota
	// After is when its last report is in.
	After
)

// Look is a reading that is wanted.
type Look struct {
	Step  int
	Point Point
}

// Seen is what was read of the pods behind a target's Service.
type Seen struct {
	Look
	Service string
	At      time.Time
	// Problem is why nothing could be read.
	Problem string
	// Pods are those that were read, without those that end; Unread is how many more
	// there are.
	Pods   []Pod
	Unread int32
	// Usage is what was read of their use in the step; nil: it is not read.
	Usage *Usage
	// Autoscaler is that of their workload; nil: none is known.
	Autoscaler *v1beta1.TargetAutoscaler
}

// Pod is a pod behind the Service.
type Pod struct {
	UID, Node string
	// Template is the hash of the template that it was made of; empty: it is not known.
	Template   string
	Ready      bool
	Containers []Container
}

// Container is one of its containers. Digest is empty until it has started.
type Container struct {
	v1beta1.TargetContainer
	Restarts int32
	// CPULimit is the limit in thousandths of a processor, MemoryLimit that in bytes; 0: none.
	CPULimit, MemoryLimit int64
	// Ended is how it ended last, if it did, and EndedAt when.
	Ended   string
	EndedAt time.Time
}

// maxProblem bounds the sentence of what could not be read, maxContainers and maxTemplates
// a configuration.
const maxProblem, maxContainers, maxTemplates = 256, 16, 16

// reading is what the status keeps of it in the step.
func (s *Seen) reading() *v1beta1.EnvironmentReading {
	r := &v1beta1.EnvironmentReading{Time: metav1.NewMicroTime(s.At), Problem: text.Truncate(s.Problem, maxProblem)}
	if s.Problem != "" {
		return r
	}
	r.Pods, r.Unread, r.Configuration = int32(len(s.Pods))+s.Unread, s.Unread, s.configuration().ID
	var uids, templates []string
	for _, pod := range s.Pods {
		uids = append(uids, pod.UID)
		if pod.Template != "" {
			templates = append(templates, pod.Template)
		}
		if pod.Ready {
			r.Ready++
		}
		for _, c := range pod.Containers {
			r.Restarts += int64(c.Restarts)
		}
	}
	slices.Sort(uids)
	r.Identity = hashOf(uids)
	if len(templates) > 0 {
		slices.Sort(templates)
		r.Templates = hashOf(slices.Compact(templates))
	}
	return r
}

// configuration is what the pods run. Those of which a container has not started are no
// part of it, as its digest is not known; without any that have, its id is empty. Their
// templates, which are known before they start, are compared for each reading.
func (s *Seen) configuration() v1beta1.TargetConfiguration {
	c := v1beta1.TargetConfiguration{Service: s.Service, Autoscaler: s.Autoscaler}
	for _, pod := range s.Pods {
		if slices.ContainsFunc(pod.Containers, func(c Container) bool { return c.Digest == "" }) {
			continue
		}
		for _, container := range pod.Containers {
			if !slices.Contains(c.Containers, container.TargetContainer) {
				c.Containers = append(c.Containers, container.TargetContainer)
			}
		}
		if pod.Template != "" && !slices.Contains(c.Templates, pod.Template) {
			c.Templates = append(c.Templates, pod.Template)
		}
	}
	if len(c.Containers) == 0 {
		return c
	}
	slices.SortFunc(c.Containers, func(a, b v1beta1.TargetContainer) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Image, b.Image), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Limits, b.Limits))
	})
	slices.Sort(c.Templates)
	c.ID = hashOf(c)
	c.Containers = c.Containers[:min(len(c.Containers), maxContainers)]
	c.Templates = c.Templates[:min(len(c.Templates), maxTemplates)]
	return c
}

// lastEnding is how the container ended that ended last; empty: none did, as far as known.
func (s *Seen) lastEnding() string {
	ending, at := "", time.Time{}
	for _, pod := range s.Pods {
		for _, c := range pod.Containers {
			if c.Ended != "" && !c.EndedAt.Before(at) {
				ending, at = c.Ended, c.EndedAt
			}
		}
	}
	return ending
}

// hashOf is a short name of a value.
func hashOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "" // not reached: it is of strings and numbers
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:6])
}
