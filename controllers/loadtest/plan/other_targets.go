package plan

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// OtherTargetField is what messages call one of spec.otherTargets: by its name, as a person finds it.
func OtherTargetField(name string) string { return "spec.otherTargets[" + name + "]" }

// otherTarget is the index among spec.otherTargets of the one that a request names; -1: it names
// none, or one that is not there.
func otherTarget(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) int {
	return otherTargetNamed(spec, r.Target)
}

// otherTargetNamed is the index of the one of a name; -1: there is none.
func otherTargetNamed(spec *v1beta1.LoadTestSpec, name string) int {
	return slices.IndexFunc(spec.OtherTargets, func(o v1beta1.OtherTarget) bool { return name != "" && o.Name == name })
}

// targetOf is the target that a request names, or that of the spec.
func targetOf(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) *v1beta1.Target {
	if i := otherTarget(spec, r); i >= 0 {
		return spec.OtherTargets[i].Target()
	}
	return &spec.Target
}

// checkOtherTargets refuses a request to a target that is not there or does not take it, and a
// target to which no request goes.
func checkOtherTargets(spec *v1beta1.LoadTestSpec) *Refusal {
	used := make([]bool, len(spec.OtherTargets))
	for i := range spec.Requests {
		r := &spec.Requests[i]
		if r.Target == "" {
			continue
		}
		to := otherTarget(spec, r)
		switch {
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
		name := spec.OtherTargets[i].Name
		return invalid("%s: no request goes to it, and no login; set target: %s in a request or a login, or remove it.", OtherTargetField(name), name)
	}
	if len(used) > 0 && driver(spec) == workerv1.Driver_DRIVER_VEGETA {
		return invalid("spec.worker.driver: Vegeta sends to one target; use driver Auto with spec.otherTargets.")
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
	for i, url := range TargetURLs(lt).Others {
		list = append(list, v1beta1.OtherTargetStatus{Name: lt.Spec.OtherTargets[i].Name, TargetURL: url})
	}
	return list
}

// otherTargets are those of an assignment.
func otherTargets(lt *v1beta1.LoadTest) []*workerv1.Target {
	var list []*workerv1.Target
	for i, url := range KnownURLs(lt).Others {
		var access *v1beta1.TargetAccess
		if i < len(lt.Status.Internal.OtherAccess) {
			access = &lt.Status.Internal.OtherAccess[i]
		}
		list = append(list, target(&lt.Spec, lt.Spec.OtherTargets[i].Target(), url, access))
	}
	return list
}
