package targetsfile

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// Origin is where all targets of a file must be: requests go to no other place.
type Origin struct {
	// URL is scheme and host.
	URL string
	// Aliases are other names of the host, with a port, or without one for any port.
	Aliases []string
	// OwnHostOnly refuses a header Host of another host.
	OwnHostOnly bool
}

// path is the path and query of a target's URL, as they are written.
func (o Origin) path(raw string) (string, error) {
	if strings.HasPrefix(raw, "/") {
		return raw, nil
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return "", errors.New("the URL has neither a scheme nor a slash before its path: write http://host/path, or /path")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if err := o.check(strings.ToLower(scheme), rest[:end]); err != nil {
		return "", err
	}
	if path := rest[end:]; strings.HasPrefix(path, "/") {
		return path, nil
	}
	return "/" + rest[end:], nil
}

// check refuses a scheme and host that are not those of the origin.
func (o Origin) check(scheme, host string) error {
	if strings.Contains(host, "@") {
		return errors.New("the URL has a user or password: write header Authorization instead")
	}
	u, err := url.Parse(scheme + "://" + host)
	if err != nil {
		return errors.New("the URL has no host: write http://host/path, or /path")
	}
	if own, err := o.has(u); err != nil || own {
		return err
	}
	return fmt.Errorf("the URL has another scheme, host or port than spec.target, %s: use the same, or write only the path", o.URL)
}

func (o Origin) has(u *url.URL) (bool, error) {
	return source.Origin{URL: o.URL, Aliases: o.Aliases}.Has(u)
}

// checkHeader refuses a header Host of another host, if there must be none.
func (o Origin) checkHeader(name, value string) error {
	if !o.OwnHostOnly || !strings.EqualFold(name, "Host") {
		return nil
	}
	scheme, _, _ := strings.Cut(o.URL, "://")
	if u, err := url.Parse(scheme + "://" + value); err == nil && u.Host == value {
		if own, err := o.has(u); err != nil || own {
			return err
		}
	}
	return fmt.Errorf("header Host has another host than spec.target, %s: write it into the headers of the request, where the operator sees whether it is allowed", o.URL)
}
