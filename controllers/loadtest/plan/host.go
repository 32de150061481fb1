package plan

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// checkHostHeaders refuses requests that are for another host than the one of their target, unless it is
// allowed as well. Where a target is behind a shared address, the header Host, or the server name of
// TLS, decides which of the hosts there gets the load.
func checkHostHeaders(spec *v1beta1.LoadTestSpec, rules policy.Rules) *Refusal {
	for _, s := range sentTexts(spec) {
		for i := range s.headers {
			if !strings.EqualFold(s.headers[i].Name, "Host") {
				continue
			}
			if refusal := checkHostHeader(fmt.Sprintf("%s[%d]", s.field, i), &s.headers[i], s.to, rules); refusal != nil {
				return refusal
			}
		}
	}
	return nil
}

func checkServerName(field string, t *v1beta1.Target, rules policy.Rules) *Refusal {
	if t.TLS == nil || t.TLS.ServerName == "" {
		return nil
	}
	if why := rules.Targets.RefusalOfHost(placeOf(t, rules), t.TLS.ServerName); why != "" {
		return notAllowed(field+".tls.serverName", why)
	}
	return nil
}

// checkHostHeader checks a header Host that is sent to these targets. One with variables, or of a Secret, is
// allowed where all hosts are.
func checkHostHeader(field string, h *v1beta1.Header, to []*v1beta1.Target, rules policy.Rules) *Refusal {
	for _, t := range to {
		place := placeOf(t, rules)
		if h.Value != nil {
			if why := rules.Targets.RefusalOfHost(place, withoutPort(*h.Value)); why != "" {
				return notAllowed(field+".value", why)
			}
		} else if rules.Targets.RefusalOfHost(place, "") != "" {
			return notAllowed(field+".valueFrom", "the host for requests to "+place.Host+" must not come from a Secret; write it as value")
		}
	}
	return nil
}

// withoutPort is the host of a header Host.
func withoutPort(value string) string {
	value = strings.TrimSpace(value)
	if host, _, err := net.SplitHostPort(value); err == nil {
		return host
	}
	return value
}

// placeOf is where a target is, of which checkTargets has seen the URL.
func placeOf(t *v1beta1.Target, rules policy.Rules) policy.Place {
	if t.Service != nil {
		return policy.Place{Service: t.Service.Name}
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		return policy.Place{} // not reached
	}
	return rules.Targets.Place(u)
}
