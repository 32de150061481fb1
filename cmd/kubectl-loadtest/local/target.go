package local

import (
	"cmp"
	"fmt"
	"net"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
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

// Direct puts an address in the place of a target's Service, whatever its port there.
func (s Services) Direct(lt *v1alpha1.LoadTest) error {
	service := lt.Spec.Target.Service
	if service == nil {
		return nil
	}
	address, ok := s[service.Name]
	if !ok {
		return fmt.Errorf("LoadTest %s: spec.target.service: there is no cluster here to find Service %s in; say where it listens with --service %s=127.0.0.1:8080, or set spec.target.url",
			lt.Name, service.Name, service.Name)
	}
	lt.Spec.Target.Service = nil
	lt.Spec.Target.URL = fmt.Sprintf("%s://%s", cmp.Or(service.Scheme, v1alpha1.SchemeHTTP), address)
	return nil
}

// Check refuses a LoadTest that would wait for something that does not come on this
// machine.
func Check(lt *v1alpha1.LoadTest, files *Objects) error {
	if lt.Spec.Suspend {
		return fmt.Errorf("LoadTest %s: spec.suspend is true, and nothing could resume a run on this machine; set it to false", lt.Name)
	}
	if lt.Spec.Baseline != nil {
		return fmt.Errorf("LoadTest %s: spec.baseline is a LoadTest of a cluster, which is not looked for on this machine; remove it with the thresholds that have maxIncrease or maxDecrease, and compare saved results with kubectl loadtest compare -f", lt.Name)
	}
	return files.missing(lt)
}
