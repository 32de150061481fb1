package report

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// generator is the state of the generator, in a line and, when it shows in the result, a
// second one. What to change is said once in a report, where it is of the run.
func (p *page) generator(g *v1beta1.GeneratorStatus) {
	if g == nil {
		return
	}
	p.row("Generator", "%s", strings.Join(Health(g), ", "))
	if g.Healthy {
		return
	}
	what := ""
	if g.LoadDisplaced {
		what = ": the load was not the planned one"
	}
	p.row("", "It shows in the result%s (%s).%s", what, Healthy(g), p.advice(g))
}

// advice is what to change, if nothing above says so.
func (p *page) advice(g *v1beta1.GeneratorStatus) string {
	c := meta.FindStatusCondition(p.lt.Status.Conditions, v1beta1.ConditionGeneratorHealthy)
	if c != nil && alarming(*c) || strings.Contains(p.String(), g.Message) {
		return ""
	}
	return " " + g.Message
}

// Healthy says whether the generator shows in the result, and why.
func Healthy(g *v1beta1.GeneratorStatus) string {
	if g.Healthy {
		return "Healthy"
	}
	if g.Reason == "" {
		return "Not healthy"
	}
	return g.Reason
}

// driven is what the requests were sent with, and by which engine.
func driven(r *v1beta1.StepResult) string {
	if r.Generator == nil || r.Generator.Engine == "" {
		return r.Transport
	}
	return r.Transport + ", by " + r.Generator.Engine
}

// handshakes are how many there were, how long they took and how many were no full ones.
func handshakes(g *v1beta1.GeneratorStatus) string {
	made := "made " + text.Plural(g.Handshakes, "TLS handshake")
	if g.HandshakeP99 != nil {
		made += " of at most " + text.Short(g.HandshakeP99.Duration) + " (p99)"
	}
	if g.ResumedHandshakes > 0 {
		made += fmt.Sprintf(", %d resumed", g.ResumedHandshakes)
	}
	return made
}

// Health has what is always worth knowing first, and what is seldom there last.
func Health(g *v1beta1.GeneratorStatus) []string {
	facts := []string{"kept its schedule"}
	if g.SendLatenessP99 != nil {
		facts[0] = "sent at most " + text.Short(g.SendLatenessP99.Duration) + " late (p99"
		if g.SendLatenessMax != nil {
			facts[0] += ", max " + text.Short(g.SendLatenessMax.Duration)
		}
		facts[0] += ")"
	}
	if g.BurstSpread != nil {
		facts = append(facts, "sent the burst within "+text.Short(g.BurstSpread.Duration))
	}
	if g.HeldUp != "" {
		facts = append(facts, "held its users up for "+g.HeldUp+" of their time")
	}
	if g.ReadLatenessP99 != nil {
		facts[0] += ", read at most " + text.Short(g.ReadLatenessP99.Duration) + " late (p99)"
	}
	facts = append(facts, "opened "+text.Plural(g.ConnectionsOpened, "connection"))
	if g.ConnectionsReused > 0 {
		facts = append(facts, "reused connections for "+text.Plural(g.ConnectionsReused, "request")) // earlier steps opened some of them
	}
	if g.OpenedInWindow > 0 {
		facts = append(facts, "opened "+text.Plural(g.OpenedInWindow, "connection")+" within the window")
	}
	if g.Handshakes > 0 {
		facts = append(facts, handshakes(g))
	}
	return append(facts, machine(g)...)
}

// machine is what the workers used of their nodes, and lacked.
func machine(g *v1beta1.GeneratorStatus) (facts []string) {
	if g.CPUTime != nil {
		facts = append(facts, "used "+text.Short(g.CPUTime.Duration)+" of CPU")
	}
	if g.CPUThrottled != "" {
		facts = append(facts, "CPU throttled "+g.CPUThrottled)
	}
	if g.RunQueueWait != "" {
		facts = append(facts, "waited for a processor "+g.RunQueueWait)
	}
	if g.Stalled != nil {
		facts = append(facts, "stood still for "+text.Short(g.Stalled.Duration))
	}
	if g.GCPauseMax != nil {
		facts = append(facts, "GC pauses up to "+text.Short(g.GCPauseMax.Duration))
	}
	if n := g.DescriptorsExhausted; n > 0 {
		facts = append(facts, "no descriptor for "+text.Plural(n, "connection"))
	}
	if n := g.PortsExhausted; n > 0 {
		facts = append(facts, "no port for "+text.Plural(n, "connection"))
	}
	return facts
}
