package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// refusalOf is the refusal of the load with that index, which was made of its own spec, in the words of
// the spec that has the loads: the field is the one that the user wrote, with the load's name behind it.
// What all loads have is refused without a name.
func refusalOf(spec *v1beta1.LoadTestSpec, i int, r *Refusal) *Refusal {
	if r.Reason == v1beta1.ReasonTargetNotAllowed || r.Reason == v1beta1.ReasonWorkerNotAllowed {
		return r
	}
	name := spec.Loads[i].Name
	field, message, found := strings.Cut(r.Message, ": ")
	if !found || !strings.HasPrefix(field, "spec") || strings.Contains(field, " ") {
		return &Refusal{Reason: r.Reason, Message: fmt.Sprintf("Load %s: %s", name, r.Message)}
	}
	return &Refusal{Reason: r.Reason, Message: fmt.Sprintf("%s: load %s: %s", writtenField(spec, i, field), name, message)}
}

// item is the path of an item of a list of which a load has a part.
var item = regexp.MustCompile(`^spec\.(requests|journeys|thresholds)\[(\d+)\]`)

// ofLoad are the fields that a load has itself.
var ofLoad = regexp.MustCompile(`^spec(\.(steps|ladder|search|parallelism)\b|$)`)

// writtenField is the path of a field of a load's own spec in the spec that has the loads.
func writtenField(spec *v1beta1.LoadTestSpec, i int, field string) string {
	if ofLoad.MatchString(field) {
		return fmt.Sprintf("spec.loads[%d]%s", i, strings.TrimPrefix(field, "spec"))
	}
	found := item.FindStringSubmatch(field)
	if found == nil {
		return field
	}
	at, err := strconv.Atoi(found[2])
	places := placesOf(spec, i, found[1])
	if err != nil || at >= len(places) {
		return field
	}
	return fmt.Sprintf("spec.%s[%d]%s", found[1], places[at], strings.TrimPrefix(field, found[0]))
}

// placesOf are the indices, in the spec that has the loads, of what a load has of a list.
func placesOf(spec *v1beta1.LoadTestSpec, i int, list string) (places []int) {
	one := withoutThresholds(spec, i)
	var kept func(k int) bool
	length := 0
	switch list {
	case "requests":
		length, kept = len(spec.Requests), func(k int) bool {
			return slices.ContainsFunc(one.Requests, func(r v1beta1.Request) bool { return r.Name == spec.Requests[k].Name })
		}
	case "journeys":
		length, kept = len(spec.Journeys), func(k int) bool {
			return slices.ContainsFunc(one.Journeys, func(j v1beta1.Journey) bool { return j.Name == spec.Journeys[k].Name })
		}
	default:
		length, kept = len(spec.Thresholds), func(k int) bool {
			_, is := thresholdOf(one, spec.Loads[i].Name, spec.Thresholds[k])
			return is
		}
	}
	for k := range length {
		if kept(k) {
			places = append(places, k)
		}
	}
	return places
}
