package draft

import (
	"fmt"
	"strings"

	"github.com/robfig/cron/v3"
	"go.yaml.in/yaml/v3"
)

// longestSchedule is the longest name of a LoadTestSchedule.
const longestSchedule = 41

// checkSchedule refuses what the API or the operator would.
func (d *Draft) checkSchedule() error {
	if d.Schedule == "" {
		return nil
	}
	times, err := cron.ParseStandard(d.Schedule)
	if _, ok := times.(*cron.SpecSchedule); err != nil || !ok || strings.Contains(d.Schedule, "=") {
		return fmt.Errorf("cannot be started at %q: --schedule must have the five fields of cron, such as \"30 2 * * 1-5\", or be @hourly, @daily or @weekly", d.Schedule)
	}
	if len(d.Name) > longestSchedule {
		return fmt.Errorf("cannot be called %q: --name of a schedule must have at most %d letters, so that the names of its LoadTests fit", d.Name, longestSchedule)
	}
	return nil
}

// object is the draft as an object of the API, from the spec of the LoadTest.
func (d *Draft) object(spec *yaml.Node) *yaml.Node {
	kind := "LoadTest"
	if d.Schedule != "" {
		kind = "LoadTestSchedule"
		spec = object(
			remark(field("schedule", scalar(d.Schedule)), "In UTC; timeZone: Europe/Berlin names another zone. onRollout and onChange start a\nLoadTest after a rollout and after a change of this file."),
			field("template", object(field("spec", spec))),
		)
	}
	return object(
		field("apiVersion", scalar("loadtest.dev/v1beta1")),
		field("kind", scalar(kind)),
		field("metadata", object(field("name", scalar(d.Name)))),
		field("spec", spec),
	)
}

// thresholds are what the target must keep.
func (d *Draft) thresholds() pair {
	items := []*yaml.Node{flowObject(field("metric", scalar("onTimeRate")), field("within", scalar("500ms")), field("min", scalar("99%")))}
	comment := "What the target must keep: 99% of the requests that are due are answered as expected\nwithin 500ms. By default at most 1% may fail, at most 1% may remain unsent, and the target\nmay be down for at most 0.5% of a step."
	if d.Schedule != "" {
		items = append(items, flowObject(field("metric", scalar("p95")), field("maxIncrease", scalar("20%"))))
		comment += "\np95 may be 20% above the last LoadTest of the schedule that passed."
	}
	return remark(field("thresholds", list(items...)), comment)
}

// steps are the lines that say what to do with the file.
func (d *Draft) steps() []string {
	if d.Schedule != "" {
		return []string{
			"A LoadTestSchedule made from " + d.Source + ", to be read and changed. Then:",
			"  kubectl apply --dry-run=server -f FILE             # are all fields right?",
			"  kubectl apply -f FILE",
			"  kubectl loadtest run --from schedule/" + d.Name + "   # once, now",
		}
	}
	return []string{
		"A LoadTest made from " + d.Source + ", to be read and changed. Then:",
		"  kubectl loadtest validate -f FILE       # are all fields right?",
		"  kubectl loadtest plan -f FILE           # how much is sent, and for how long?",
		"  kubectl loadtest run --local -f FILE    # from this machine, without a cluster",
		"  kubectl loadtest run -f FILE            # from the cluster",
	}
}
