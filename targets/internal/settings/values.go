package settings

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Switch reads on or off.
func Switch(v string) (bool, error) {
	switch v {
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither on nor off", v)
}

// Whole reads a whole number.
func Whole(v string) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number", v)
	}
	return n, nil
}

// Number reads a number, fractions allowed.
func Number(v string) (float64, error) {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", v)
	}
	return n, nil
}

// Duration reads a length of time in Go's form.
func Duration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: use the form 5s", v)
	}
	return d, nil
}

// Networks reads a comma-separated list of networks.
func Networks(list string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			return nil, fmt.Errorf("%q is no network: use the form 10.0.0.0/8", part)
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, nil
}
