package plan

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// OtherTargetField is what messages call one of spec.otherTargets: by its name, as a person finds it.
func OtherTargetField(name string) string { return "spec.otherTargets[" + name + "]" }

// otherTarget is the index among the targets that requests may name of the one that a request names;
// -1: it names none, or one that is not there.
func otherTarget(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) int {
	return otherTargetNamed(spec, r.Target)
}

// otherTargetNamed is the index of the one of a name; -1: there is none.
func otherTargetNamed(spec *v1beta1.LoadTestSpec, name string) int {
	return slices.IndexFunc(spec.RequestTargets(), func(o v1beta1.OtherTarget) bool { return name != "" && o.Name == name })
}

// notToControl refuses a field that names the control: in the steps of the candidate it would get
// load as well.
func notToControl(field, name string) *Refusal {
	return invalid("%s: must not be %q, which versus compares with spec.target; remove it, or add the same address to spec.otherTargets under another name.", field, name)
}

// targetOf is the target that a request names, or that of the spec.
func targetOf(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) *v1beta1.Target {
	if i := otherTarget(spec, r); i >= 0 {
		return spec.RequestTargets()[i].Target()
	}
	return &spec.Target
}

// checkOtherTargets refuses a request to a target that is not there or does not take it, and a
// target to which no request goes.
func checkOtherTargets(spec *v1beta1.LoadTestSpec) *Refusal {
	others := spec.RequestTargets()
	used := make([]bool, len(others))
	for i := range spec.Requests {
		r := &spec.Requests[i]
		if r.Target == "" {
			continue
		}
		to := otherTarget(spec, r)
		switch {
		case spec.IsControl(r.Target):
			return notToControl(fmt.Sprintf("spec.requests[%d].target", i), r.Target)
		case to < 0:
			return invalid("spec.requests[%d].target: %q is not the name of one of spec.otherTargets%s.", i, r.Target, namesOf(spec.OtherTargets))
		case r.GRPC != nil:
			return invalid("spec.requests[%d].target: must not be set with grpc: calls of gRPC go to spec.target.", i)
		case hasTargets(r):
			return invalid("spec.requests[%d].target: must not be set with http.targets, whose URLs name spec.target.", i)
		}
		used[to] = true
	}
	for i := range spec.Logins {
		if to := otherTargetNamed(spec, spec.Logins[i].Target); to >= 0 {
			used[to] = true
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		name := others[i].Name
		return invalid("%s: no request, login or versus names it; set target: %s in one of them, or remove it.", OtherTargetField(name), name)
	}
	if len(used) > 0 && driver(spec) == workerv1.Driver_DRIVER_VEGETA {
		return invalid("spec.worker.driver: Vegeta sends to one target; use driver Auto with requests to spec.otherTargets.")
	}
	return nil
}

// namesOf lists the names for a message.
func namesOf(others []v1beta1.OtherTarget) string {
	list := ""
	for i, o := range others {
		if i > 0 {
			list += ", "
		}
		list += o.Name
	}
	if list == "" {
		return ", which is empty"
	}
	return ": " + list
}

// otherTargetStatuses are where the requests go that name a target, as far as ports are known.
func otherTargetStatuses(lt *v1beta1.LoadTest) []v1beta1.OtherTargetStatus {
	var list []v1beta1.OtherTargetStatus
	others := lt.Spec.RequestTargets()
	for i, url := range TargetURLs(lt).Others {
		list = append(list, v1beta1.OtherTargetStatus{Name: others[i].Name, TargetURL: url})
	}
	return list
}

// otherTargets are those of an assignment.
func otherTargets(lt *v1beta1.LoadTest) []*workerv1.Target {
	var list []*workerv1.Target
	others := lt.Spec.RequestTargets()
	for i, url := range KnownURLs(lt).Others {
		var access *v1beta1.TargetAccess
		if i < len(lt.Status.Internal.OtherAccess) {
			access = &lt.Status.Internal.OtherAccess[i]
		}
		list = append(list, target(&lt.Spec, others[i].Target(), url, access))
	}
	return list
}
