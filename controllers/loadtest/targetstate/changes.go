package targetstate

import (
	"fmt"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxChanges bounds the changes of a step, maxChange the sentence of one.
const maxChanges, maxChange = 4, 320

// changes are those of the step whose last reading is seen.
func changes(status *v1beta1.LoadTestStatus, seen *Seen) []v1beta1.EnvironmentChange {
	step := &status.Steps[seen.Step]
	c := comparison{status: status, seen: seen}
	before, after := readable(step.Environment.Before), readable(step.Environment.After)
	earlier, name := latestBefore(status.Steps, seen.Step)
	var list []v1beta1.EnvironmentChange
	switch {
	case after == nil && before == nil:
	case before == nil && earlier != nil:
		// It is not known in which part of the time: the step is not certain to be of one.
		list = c.between(earlier, after, fmt.Sprintf("between step %s and the end of step %s", name, step.Name), v1beta1.SpoiledStep)
	case before != nil:
		switch {
		case earlier != nil && isLate(step):
			list = c.between(earlier, before, fmt.Sprintf("between step %s and a part of step %s", name, step.Name), v1beta1.SpoiledStep)
		case earlier != nil:
			list = c.between(earlier, before, fmt.Sprintf("between step %s and step %s", name, step.Name), v1beta1.SpoiledRun)
		}
		if after != nil {
			list = append(list, c.between(before, after, "during step "+step.Name, v1beta1.SpoiledStep)...)
		}
	}
	// What spoils a figure stands first.
	slices.SortStableFunc(list, func(a, b v1beta1.EnvironmentChange) int { return rank(a.Spoils) - rank(b.Spoils) })
	return list[:min(len(list), maxChanges)]
}

// isLate says whether the first reading of a step is not of its beginning: the operator
// that was to make it ended, and another did.
func isLate(step *v1beta1.StepStatus) bool {
	const tolerable = time.Second
	return step.StartTime != nil && step.Environment.Before.Time.Sub(step.StartTime.Time) > tolerable
}

func rank(s v1beta1.Spoiled) int {
	return slices.Index([]v1beta1.Spoiled{v1beta1.SpoiledStep, v1beta1.SpoiledRun, ""}, s)
}

// readable is a reading that has something to say; nil: it has not.
func readable(r *v1beta1.EnvironmentReading) *v1beta1.EnvironmentReading {
	if r == nil || r.Problem != "" {
		return nil
	}
	return r
}

// latestBefore is the latest reading before step i of the same target, and its step.
func latestBefore(steps []v1beta1.StepStatus, i int) (*v1beta1.EnvironmentReading, string) {
	for _, s := range slices.Backward(steps[:i]) {
		if s.Environment == nil || s.Side != steps[i].Side {
			continue
		}
		for _, r := range []*v1beta1.EnvironmentReading{s.Environment.After, s.Environment.Before} {
			if readable(r) != nil {
				return r, s.Name
			}
		}
	}
	return nil, ""
}

// comparison is of two readings of a Service.
type comparison struct {
	status *v1beta1.LoadTestStatus
	seen   *Seen
}

// between is what differs between two readings. spoils is what another configuration does.
func (c comparison) between(a, b *v1beta1.EnvironmentReading, when string, spoils v1beta1.Spoiled) []v1beta1.EnvironmentChange {
	var list []v1beta1.EnvironmentChange
	add := func(reason v1beta1.EnvironmentChangeReason, spoils v1beta1.Spoiled, format string, args ...any) {
		list = append(list, v1beta1.EnvironmentChange{Reason: reason, Spoils: spoils, Message: text.Truncate(fmt.Sprintf(format, args...), maxChange)})
	}
	service := c.seen.Service
	rolled := differ(a.Templates, b.Templates)
	switch {
	case differ(a.Configuration, b.Configuration):
		add(v1beta1.TargetReconfigured, spoils, "The pods of Service %s were changed %s%s.", service, when, c.difference(a.Configuration, b.Configuration))
	case rolled:
		add(v1beta1.TargetReconfigured, spoils, "The pods of Service %s were changed %s: some of them have another template.", service, when)
	}
	if a.Pods != b.Pods {
		// A rollout has pods of both templates while it is under way.
		if scaler := c.autoscaler(a.Configuration, b.Configuration); scaler != nil && !rolled {
			add(v1beta1.TargetScaled, "", "Service %s was scaled from %d to %s %s by its autoscaler %s (%d to %d).", service, a.Pods, pods(b.Pods), when, scaler.Name, scaler.Min, scaler.Max)
		} else {
			add(v1beta1.TargetScaled, spoils, "Service %s was scaled from %d to %s %s, not by a known autoscaler.", service, a.Pods, pods(b.Pods), when)
		}
	}
	same := a.Identity == b.Identity
	if b.Restarts > a.Restarts {
		add(v1beta1.TargetRestarted, "", "Containers of Service %s restarted %s %s%s.", service, times(b.Restarts-a.Restarts, same), when, c.ending())
	}
	switch {
	case rolled:
	case !same && a.Pods == b.Pods && (a.Configuration == "" || b.Configuration == ""):
		add(v1beta1.TargetReplaced, "", "Pods of Service %s were replaced %s; it is not known yet what the new ones run.", service, when)
	case !same && a.Pods == b.Pods && a.Configuration == b.Configuration:
		add(v1beta1.TargetReplaced, "", "Pods of Service %s were replaced %s by pods with the same %s.", service, when, c.common(b.Configuration))
	}
	return list
}

// differ says whether two hashes do, of which an empty one is not known.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

func pods(n int32) string { return text.Plural(int64(n), "pod") }

// configuration is that of an id; nil: there was no room for it.
func (c comparison) configuration(id string) *v1beta1.TargetConfiguration {
	list := c.status.Environment.Configurations
	i := slices.IndexFunc(list, func(o v1beta1.TargetConfiguration) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// autoscaler is the one that both configurations have; nil: none.
func (c comparison) autoscaler(a, b string) *v1beta1.TargetAutoscaler {
	before, after := c.configuration(a), c.configuration(b)
	if before == nil || after == nil || before.Autoscaler == nil || after.Autoscaler == nil || *before.Autoscaler != *after.Autoscaler {
		return nil
	}
	return after.Autoscaler
}

// difference names the first container that differs.
func (c comparison) difference(a, b string) string {
	before, after := c.configuration(a), c.configuration(b)
	if before == nil || after == nil {
		return ""
	}
	for _, is := range after.Containers {
		was := slices.IndexFunc(before.Containers, func(o v1beta1.TargetContainer) bool { return o.Name == is.Name })
		switch {
		case slices.Contains(before.Containers, is):
		case was < 0:
			return ": container " + is.Name + " is new"
		case before.Containers[was].Digest != is.Digest:
			return fmt.Sprintf(": the image of container %s was %s and is %s", is.Name, short(before.Containers[was].Digest), short(is.Digest))
		case before.Containers[was].Limits != is.Limits:
			return fmt.Sprintf(": the limits of container %s were %s and are %s", is.Name, orNone(before.Containers[was].Limits), orNone(is.Limits))
		default:
			return ": the name of the image of container " + is.Name
		}
	}
	if len(before.Containers) != len(after.Containers) {
		return ": they have fewer containers"
	}
	if !slices.Equal(before.Templates, after.Templates) {
		return ": their template differs in more than images and limits"
	}
	return ": the bounds of the autoscaler"
}

// common is what pods of one configuration have in common, as far as it is known.
func (c comparison) common(id string) string {
	if is := c.configuration(id); is != nil && len(is.Templates) > 0 {
		return "template"
	}
	return "images and limits"
}

// short is a digest that can be read.
func short(digest string) string {
	const read = len("sha256:") + 12
	return digest[:min(len(digest), read)]
}

func orNone(limits string) string {
	if limits == "" {
		return "none"
	}
	return limits
}

// times is how often; of other pods than before it is the least, as what those that are
// gone had is not known.
func times(n int64, same bool) string {
	text := fmt.Sprintf("%d times", n)
	if n == 1 {
		text = "once"
	}
	if !same {
		text = "at least " + text
	}
	return text
}

// ending says how the container ended that ended last.
func (c comparison) ending() string {
	if last := c.seen.lastEnding(); last != "" {
		return ", the last after " + last
	}
	return ""
}
