package main

import (
	"net/http"
	"regexp"
	"strings"
)

var traceparent = regexp.MustCompile(`^00-([0-9a-f]{32})-[0-9a-f]{16}-0([01])$`)

// addTrace counts the trace context of a request: late says that it will be answered late.
func (c *counts) addTrace(name string, r *http.Request, late bool) error {
	parts := traceparent.FindStringSubmatch(strings.Join(r.Header.Values("Traceparent"), ","))
	if parts == nil {
		return nil
	}
	if err := c.add(name, traced); err != nil {
		return err
	}
	if parts[2] == "0" {
		return nil
	}
	if err := c.add(name, sampled); err != nil || !late {
		return err
	}
	return c.append(name, held, parts[1]+" ")
}
