package plan

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

var targetsFormats = map[v1beta1.TargetsFormat]workerv1.TargetsFormat{
	"":                        workerv1.TargetsFormat_TARGETS_FORMAT_HTTP,
	v1beta1.TargetsFormatHTTP: workerv1.TargetsFormat_TARGETS_FORMAT_HTTP,
	v1beta1.TargetsFormatJSON: workerv1.TargetsFormat_TARGETS_FORMAT_JSON,
}

func targetsFile(t *v1beta1.Targets) (File, bool) {
	if t == nil {
		return File{}, false
	}
	return contentFile(&t.From)
}

// setAliases names a target as URLs of a targets file may name it: a Service in each way
// that its cluster does. Those of the target go to the control as well.
func setAliases(lt *v1beta1.LoadTest, target *workerv1.Target, control *workerv1.Control) {
	if !slices.ContainsFunc(lt.Spec.Requests, func(r v1beta1.Request) bool { return hasTargets(&r) }) {
		return
	}
	target.Aliases = aliases(lt.Namespace, &lt.Spec.Target, target.GetUrl())
	target.OwnHostOnly = isAllowedByHost(&lt.Spec.Target, lt.Status.Internal.Access)
	if control != nil {
		control.Target.OwnHostOnly = isAllowedByHost(lt.Spec.Control(), lt.Status.Internal.ControlAccess)
		_, host, _ := strings.Cut(target.GetUrl(), "://")
		control.Target.Aliases = slices.Concat(
			aliases(lt.Namespace, lt.Spec.Control(), control.GetTarget().GetUrl()), target.GetAliases(), []string{host})
	}
}

// isAllowedByHost says whether a target, or the proxy in front of it, is a host that a rule names. The headers in a
// file of its targets are not known when the run is accepted.
func isAllowedByHost(t *v1beta1.Target, access *v1beta1.TargetAccess) bool {
	return access != nil && (t.Proxy != nil || access.ServiceUID == "" && access.Name != "")
}

// aliases are the names of a Service with the port of its URL, whose host is one of them.
func aliases(namespace string, t *v1beta1.Target, at string) []string {
	u, err := url.Parse(at)
	if t.Service == nil || err != nil || u.Port() == "" {
		return nil
	}
	name := t.Service.Name + "." + namespace
	var list []string
	for _, host := range []string{t.Service.Name, name, name + ".svc", name + ".svc.cluster.local"} {
		list = append(list, net.JoinHostPort(host, u.Port()))
	}
	return list
}

var drivers = map[v1beta1.Driver]workerv1.Driver{v1beta1.DriverVegeta: workerv1.Driver_DRIVER_VEGETA}

// checkDriver refuses users whom Vegeta cannot send for. The API server does so for a spec, but does not look
// into its loads.
func checkDriver(spec *v1beta1.LoadTestSpec) *Refusal {
	users := slices.ContainsFunc(loadsOf(spec), func(a asked) bool { return a.users() > 0 })
	if users && driver(spec) == workerv1.Driver_DRIVER_VEGETA {
		return invalid("spec.worker.driver: must not be Vegeta with users: it sends rates; set rates, or driver Auto.")
	}
	return nil
}

func driver(spec *v1beta1.LoadTestSpec) workerv1.Driver {
	if spec.Worker == nil {
		return workerv1.Driver_DRIVER_UNSPECIFIED
	}
	return drivers[spec.Worker.Driver]
}
