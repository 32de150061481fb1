package local

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// Services are addresses, host:port, by the names of Services.
type Services map[string]string

// Check refuses addresses that are none.
func (s Services) Check() error {
	for name, address := range s {
		if host, port, err := net.SplitHostPort(address); name == "" || err != nil || host == "" || port == "" {
			return fmt.Errorf("--service %s=%s: must be NAME=HOST:PORT, such as shortener=127.0.0.1:8080", name, address)
		}
	}
	return nil
}

// Direct puts addresses in the place of the Services of the targets, whatever their ports
// there.
func (s Services) Direct(lt *v1beta1.LoadTest) error {
	if err := s.direct(lt.Name, "spec.target", &lt.Spec.Target); err != nil {
		return err
	}
	for i := range lt.Spec.OtherTargets {
		other := &lt.Spec.OtherTargets[i]
		target := other.Target()
		if err := s.direct(lt.Name, plan.OtherTargetField(other.Name), target); err != nil {
			return err
		}
		other.Service, other.URL = target.Service, target.URL
	}
	return nil
}

func (s Services) direct(name, field string, t *v1beta1.Target) error {
	service := t.Service
	if service == nil {
		return nil
	}
	address, ok := s[service.Name]
	if !ok {
		return fmt.Errorf("LoadTest %s: %s.service: there is no cluster here to find Service %s in; say where it listens with --service %s=127.0.0.1:8080, or set %s.url",
			name, field, service.Name, service.Name, field)
	}
	t.Service = nil
	t.URL = fmt.Sprintf("%s://%s", strings.ToLower(string(cmp.Or(service.Scheme, v1beta1.SchemeHTTP))), address)
	return nil
}

// names are those that Services at a URL have in the cluster of a LoadTest's namespace,
// whatever their ports there.
func (s Services) names(target, namespace string) []string {
	var list []string
	for name, address := range s {
		if strings.HasSuffix(target, "://"+address) {
			long := name + "." + namespace
			list = append(list, name, long, long+".svc", long+".svc.cluster.local")
		}
	}
	slices.Sort(list)
	return list
}

// checkBaseline refuses a LoadTest whose baseline would be waited for.
func checkBaseline(lt, found *v1beta1.LoadTest) error {
	switch b := lt.Spec.Baseline; {
	case b == nil, found != nil && lifecycle.Finished(found), found == nil && b.Optional:
		return nil
	case found != nil:
		return fmt.Errorf("LoadTest %s cannot be compared with LoadTest %s of --baseline, which has not finished", lt.Name, found.Name)
	}
	return fmt.Errorf("LoadTest %s: spec.baseline is a LoadTest of a cluster, which a run on this machine does not read; give a saved one with --baseline FILE, or set spec.baseline.optional to true", lt.Name)
}

// Check refuses a LoadTest that would wait for something that does not come on this
// machine.
func Check(lt *v1beta1.LoadTest, files *Objects) error {
	if lt.Spec.Suspend {
		return fmt.Errorf("LoadTest %s: spec.suspend is true, but nothing can resume a run on this machine; set it to false", lt.Name)
	}
	return files.missing(lt)
}

// SendsSeveral says whether more than one step of a LoadTest without loads sends anything. A search has a step for each
// probe, and a comparison one for each target.
func SendsSeveral(lt *v1beta1.LoadTest) bool {
	steps := slices.DeleteFunc(plan.Steps(&lt.Spec), func(s v1beta1.StepStatus) bool { return s.Load.IsPause() })
	return len(steps) > 1 || lt.Spec.Search != nil || lt.Spec.Versus != nil
}

// CheckExposure refuses responses in messages beside values of Secrets, as an operator without a rule for it
// does: a target may send them back, and reports are handed on.
func CheckExposure(lt *v1beta1.LoadTest) error {
	secrets := plan.SentSecrets(&lt.Spec)
	if lt.Spec.Expose != v1beta1.ExposeResponses || len(secrets) == 0 {
		return nil
	}
	return fmt.Errorf("LoadTest %s: spec.expose: Responses is not allowed beside values of %s, which the target may send back, so that they stand in the report; "+
		"remove spec.expose, or send values that are not secret, from the spec or a ConfigMap", lt.Name, strings.Join(secrets, ", "))
}
