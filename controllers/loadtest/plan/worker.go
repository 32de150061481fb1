package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// checkWorkers refuses pods of workers, and Secrets in them, that the administrator does
// not allow. Its message has all that is not allowed, each with its field and the way out.
func checkWorkers(lt *v1beta1.LoadTest, rules policy.Workers) *Refusal {
	c := workerCheck{rules: rules, namespace: lt.Namespace}
	for _, f := range Files(&lt.Spec) {
		allowed, rule, patterns := true, "", []string(nil)
		switch f.Kind {
		case InConfigMap:
		case InSecret:
			allowed, rule, patterns = rules.Secret(f.Name), "secrets", rules.Secrets()
		case InClaim:
			allowed, rule, patterns = rules.Claim(f.Name), "claims", rules.Claims()
		}
		switch field := fmt.Sprintf("spec names %s %s", f.Kind, f.Name); {
		case allowed:
		case rules.OperatorsOwn:
			c.refused = append(c.refused, fmt.Sprintf("%s: a LoadTest uses no %s of the operator's own namespace; create both in another.", field, f.Kind))
		default:
			c.refuse(field, "its use", rule, orOneOf("leave it out", patterns))
		}
	}
	if secrets := SentSecrets(&lt.Spec); lt.Spec.Expose == v1beta1.ExposeResponses && len(secrets) > 0 && !rules.ExposeWithSecrets() {
		c.refused = append(c.refused, fmt.Sprintf("spec.expose: Responses is not allowed in namespace %s beside values of %s, which a target may send back; "+
			"leave it out, or ask the administrator to set exposeWithSecrets: true in a rule in workers of the operator's configuration.", lt.Namespace, strings.Join(secrets, ", ")))
	}
	if w := lt.Spec.Worker; w != nil {
		c.image(w)
		c.nodes(w)
		c.pods(w)
		if w.Resources != nil {
			c.resources(w.Resources)
		}
	}
	if len(c.refused) == 0 {
		return nil
	}
	slices.Sort(c.refused) // those of maps are in no order
	return &Refusal{Reason: v1beta1.ReasonWorkerNotAllowed, Message: strings.Join(slices.Compact(c.refused), " ")}
}

// workerCheck collects what is not allowed.
type workerCheck struct {
	rules     policy.Workers
	namespace string
	refused   []string
}

// refuse notes that a value of a field is not allowed by a rule, which may have others.
func (c *workerCheck) refuse(field, what, rule, instead string) {
	c.refused = append(c.refused, fmt.Sprintf("%s: %s is not allowed in namespace %s; %sask the administrator to add it to %s of a rule in workers of the operator's configuration.",
		field, what, c.namespace, instead, rule))
}

func (c *workerCheck) image(w *v1beta1.Worker) {
	if w.Image != "" && !c.rules.Image(w.Image) {
		c.refuse("spec.worker.image", w.Image, "images", orOneOf("leave it out to use the image of the release", c.rules.Images()))
	}
	if w.ImagePullPolicy != "" && !c.rules.PullPolicy(w.ImagePullPolicy) {
		c.refuse("spec.worker.imagePullPolicy", string(w.ImagePullPolicy), "pullPolicies", "leave it out, or ")
	}
}

func (c *workerCheck) nodes(w *v1beta1.Worker) {
	for key := range w.NodeSelector {
		if !c.rules.NodeSelectorKey(key) {
			c.refuse("spec.worker.nodeSelector", "label "+key, "nodeSelectorKeys", orOneOf("leave it out", c.rules.NodeSelectorKeys()))
		}
	}
	for i, t := range w.Tolerations {
		if !c.rules.Toleration(t) {
			what := "taint " + t.Key
			if t.Key == "" {
				what = "every taint"
			}
			c.refuse(fmt.Sprintf("spec.worker.tolerations[%d]", i), what, "tolerationKeys", orOneOf("leave it out", c.rules.TolerationKeys()))
		}
	}
}

// labels refuses what no pod could have. What is said of keys by rules of CEL would cost an API server
// more than all other rules.
func (c *workerCheck) labels(field string, labels map[string]string, problems func(key, value string) []string) {
	for key, value := range labels {
		for _, problem := range problems(key, value) {
			c.refused = append(c.refused, fmt.Sprintf("%s: %q: %q: %s.", field, key, value, strings.TrimSuffix(problem, ".")))
		}
	}
}

func labelProblems(key, value string) []string {
	return append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...)
}

func ownLabelProblems(key, value string) []string {
	if strings.HasPrefix(key, "loadtest.dev/") || strings.HasPrefix(key, "batch.kubernetes.io/") ||
		slices.Contains([]string{"app.kubernetes.io/managed-by", "controller-uid", "job-name"}, key) {
		return []string{"it is a label of the operator or of Jobs; use another key"}
	}
	return labelProblems(key, value)
}

func annotationProblems(key, _ string) []string {
	if strings.Contains(key, "apparmor") {
		return []string{"workers have the profile of AppArmor that their container runtime gives; leave it out"}
	}
	return validation.IsQualifiedName(strings.ToLower(key))
}

// pods are what the pods have that others read: the scheduler, a mesh, the kubelet.
func (c *workerCheck) pods(w *v1beta1.Worker) {
	c.labels("spec.worker.labels", w.Labels, ownLabelProblems)
	c.labels("spec.worker.annotations", w.Annotations, annotationProblems)
	c.labels("spec.worker.awayFrom", w.AwayFrom, labelProblems)
	for key := range w.Labels {
		if !c.rules.LabelKey(key) {
			c.refuse("spec.worker.labels", "label "+key, "labelKeys", orOneOf("leave it out", c.rules.LabelKeys()))
		}
	}
	for key := range w.Annotations {
		if !c.rules.AnnotationKey(key) {
			c.refuse("spec.worker.annotations", "annotation "+key, "annotationKeys", orOneOf("leave it out", c.rules.AnnotationKeys()))
		}
	}
	if name := w.PriorityClassName; name != "" && !c.rules.PriorityClass(name) {
		c.refuse("spec.worker.priorityClassName", name, "priorityClasses", orOneOf("leave it out", c.rules.PriorityClasses()))
	}
	for i, name := range w.ImagePullSecrets {
		field := fmt.Sprintf("spec.worker.imagePullSecrets[%d]", i)
		switch {
		case c.rules.Secret(name):
		case c.rules.OperatorsOwn:
			c.refused = append(c.refused, field+": a LoadTest uses no Secret of the operator's own namespace; create both in another.")
		default:
			c.refuse(field, "Secret "+name, "secrets", orOneOf("leave it out", c.rules.Secrets()))
		}
	}
}

// orOneOf is what the author can do without the administrator.
func orOneOf(leaveOut string, allowed []string) string {
	if len(allowed) > 0 {
		leaveOut += ", use " + strings.Join(allowed, ", ")
	}
	return leaveOut + ", or "
}

func (c *workerCheck) resources(r *corev1.ResourceRequirements) {
	if len(r.Claims) > 0 {
		c.refused = append(c.refused, "spec.worker.resources.claims: must be empty; workers have no resource claims.")
	}
	for field, list := range map[string]corev1.ResourceList{"requests": r.Requests, "limits": r.Limits} {
		for name := range maps.Keys(list) {
			c.resource("spec.worker.resources."+field, name, list)
		}
	}
}

func (c *workerCheck) resource(field string, name corev1.ResourceName, list corev1.ResourceList) {
	asked := list[name]
	most, limited := c.rules.Most(name)
	switch {
	case !limited || asked.Cmp(most) <= 0:
	case most.IsZero():
		c.refuse(field, "resource "+string(name), "resources", "leave it out, or ")
	default:
		c.refused = append(c.refused, fmt.Sprintf("%s: %s of %s is more than a worker of namespace %s may have; ask for %s or less.",
			field, name, asked.String(), c.namespace, most.String()))
	}
}
