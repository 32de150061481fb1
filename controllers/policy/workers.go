package policy

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// Workers are what the LoadTests of one namespace may ask for their workers' pods. The
// zero value allows what a namespace without a rule may have.
type Workers struct {
	// Release is the image of the operator's release, which is always allowed.
	Release string
	// OperatorsOwn says that it is the operator's own namespace, whose Secrets no LoadTest uses.
	OperatorsOwn bool

	rule config.WorkerRule
	// all says that everything is allowed.
	all bool
}

// wellKnown are the labels of nodes that a namespace without a rule may select by. The
// name of a node is not among them: a tenant could load the node of another.
var wellKnown = []string{corev1.LabelOSStable, corev1.LabelArchStable, corev1.LabelTopologyZone, corev1.LabelTopologyRegion}

// computing are the resources that any container takes. Others, such as GPUs, are few and
// cost, so that a rule must name them.
var computing = []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage)}

// workers are those of the first rule that names the namespace.
func (p *Policy) workers(namespace string) Workers {
	for _, rule := range p.config.Workers {
		if selects(rule.Namespaces, namespace) {
			return Workers{rule: rule}
		}
	}
	return Workers{}
}

// Image says whether workers may have an image.
func (w Workers) Image(image string) bool {
	return w.all || image == w.Release || anyOf(w.rule.Images, image)
}

// Images are the patterns of images beside that of the release.
func (w Workers) Images() []string { return w.rule.Images }

// PullPolicy says whether an image may be pulled by a policy.
func (w Workers) PullPolicy(policy corev1.PullPolicy) bool {
	return len(w.rule.PullPolicies) == 0 || slices.Contains(w.rule.PullPolicies, string(policy))
}

// NodeSelectorKey says whether nodes may be selected by a label.
func (w Workers) NodeSelectorKey(key string) bool {
	return w.all || anyOf(w.NodeSelectorKeys(), key)
}

// NodeSelectorKeys are the patterns of the labels by which nodes may be selected.
func (w Workers) NodeSelectorKeys() []string {
	if len(w.rule.NodeSelectorKeys) > 0 {
		return w.rule.NodeSelectorKeys
	}
	return wellKnown
}

// Toleration says whether a taint may be tolerated. A toleration without a key is one of
// every taint.
func (w Workers) Toleration(t corev1.Toleration) bool {
	if t.Key == "" {
		return w.all || slices.Contains(w.rule.TolerationKeys, "*")
	}
	return w.all || anyOf(w.rule.TolerationKeys, t.Key)
}

// TolerationKeys are the patterns of the taints that may be tolerated.
func (w Workers) TolerationKeys() []string { return w.rule.TolerationKeys }

// LabelKey says whether workers' pods may have a label.
func (w Workers) LabelKey(key string) bool { return w.all || anyOf(w.rule.LabelKeys, key) }

// LabelKeys are the patterns of the labels that workers' pods may have.
func (w Workers) LabelKeys() []string { return w.rule.LabelKeys }

// AnnotationKey says whether workers' pods may have an annotation.
func (w Workers) AnnotationKey(key string) bool { return w.all || anyOf(w.rule.AnnotationKeys, key) }

// AnnotationKeys are the patterns of the annotations that workers' pods may have.
func (w Workers) AnnotationKeys() []string { return w.rule.AnnotationKeys }

// PriorityClass says whether workers' pods may have a PriorityClass.
func (w Workers) PriorityClass(name string) bool { return w.all || anyOf(w.rule.PriorityClasses, name) }

// PriorityClasses are the patterns of the PriorityClasses that workers' pods may have.
func (w Workers) PriorityClasses() []string { return w.rule.PriorityClasses }

// usable are the Secrets and claims that a namespace without a rule may use: their names say what
// they are for. The author of one chooses its name, which is immutable.
var usable = []string{"loadtest-*"}

// Secret says whether a LoadTest may use a Secret of its namespace.
func (w Workers) Secret(name string) bool {
	return w.all || !w.OperatorsOwn && anyOf(w.Secrets(), name)
}

// Secrets are the patterns of the Secrets that a LoadTest may use.
func (w Workers) Secrets() []string {
	if w.rule.Secrets != nil {
		return *w.rule.Secrets
	}
	return usable
}

// Claim says whether a LoadTest may mount a PersistentVolumeClaim of its namespace.
func (w Workers) Claim(name string) bool {
	return w.all || !w.OperatorsOwn && anyOf(w.Claims(), name)
}

// Claims are the patterns of the claims that a LoadTest may mount.
func (w Workers) Claims() []string {
	if w.rule.Claims != nil {
		return *w.rule.Claims
	}
	return usable
}

// ExposeWithSecrets says whether a LoadTest may have messages quote responses whose requests
// send values of Secrets.
func (w Workers) ExposeWithSecrets() bool { return w.all || w.rule.ExposeWithSecrets }

// Most is the most that a worker may ask for of a resource; limited says that there is a
// limit, which is 0 for a resource that must be named and is not.
func (w Workers) Most(name corev1.ResourceName) (most resource.Quantity, limited bool) {
	most, limited = w.rule.Resources[string(name)]
	return most, !w.all && (limited || !slices.Contains(computing, string(name)))
}

func checkWorkers(rules []config.WorkerRule) error {
	for i, r := range rules {
		field := fmt.Sprintf("workers[%d]", i)
		if err := checkWorkerRule(field, r); err != nil {
			return err
		}
		if i+1 < len(rules) && len(r.Namespaces) == 0 {
			return fmt.Errorf("%s: matches all namespaces, so the rules after it never apply; put it last", field)
		}
	}
	return nil
}

func checkWorkerRule(field string, r config.WorkerRule) error {
	for _, image := range r.Images {
		host, _, _ := strings.Cut(image, "*")
		if image != "*" && image != host && !strings.Contains(host, "/") {
			return fmt.Errorf("%s.images: %q must have a / before its *: the name of another registry may begin alike", field, image)
		}
	}
	for _, p := range r.PullPolicies {
		if !slices.Contains([]corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}, corev1.PullPolicy(p)) {
			return fmt.Errorf("%s.pullPolicies: %q must be Always, IfNotPresent or Never", field, p)
		}
	}
	for name, most := range r.Resources {
		if most.Sign() <= 0 {
			return fmt.Errorf("%s.resources.%s: %v must be greater than 0", field, name, &most)
		}
	}
	secrets, claims := ptr.Deref(r.Secrets, nil), ptr.Deref(r.Claims, nil)
	if slices.Contains(slices.Concat(r.Images, r.NodeSelectorKeys, r.TolerationKeys, r.LabelKeys, r.AnnotationKeys, r.PriorityClasses, secrets, claims), "") {
		return fmt.Errorf("%s: a pattern is empty; leave it out, or write \"*\" for all", field)
	}
	return nil
}
