package archive

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// bounds is a step of which nothing but the lengths of its lists is read: eight megabytes
// of JSON may be millions of elements, which would take hundreds of megabytes.
type bounds struct {
	Requests requestList `json:"requests"`
	Series   struct {
		Points  length `json:"points"`
		Seconds any    `json:"seconds"`
	} `json:"series"`
	Outstanding struct {
		Requests length `json:"requests"`
	} `json:"outstanding"`
	Usage usageList `json:"usage"`
}

// checkBounds refuses lists that are too long, before they are decoded.
func checkBounds(raw []byte) error {
	var b bounds
	if err := json.Unmarshal(raw, &b); err != nil {
		return err
	}
	switch {
	case b.Requests.n > maxRequests:
		return fmt.Errorf("%d requests, at most %d", b.Requests.n, maxRequests)
	case b.Requests.traces > length(measure.MaxTraces):
		return fmt.Errorf("%d traces of a request, at most %d", b.Requests.traces, measure.MaxTraces)
	case b.Series.Points > measure.MaxPoints:
		return fmt.Errorf("series: %d points of %v seconds, at most %d", b.Series.Points, b.Series.Seconds, measure.MaxPoints)
	case b.Outstanding.Requests > measure.TimelineSlots:
		return fmt.Errorf("outstanding: %d slots, at most %d", b.Outstanding.Requests, measure.TimelineSlots)
	case b.Usage.n > MaxUsage:
		return fmt.Errorf("usage: %d containers, at most %d", b.Usage.n, MaxUsage)
	case b.Usage.points > MaxUsagePoints:
		return fmt.Errorf("usage: %d points of a container, at most %d", b.Usage.points, MaxUsagePoints)
	}
	return nil
}

// length is how many elements a list has: the most of them, if it is there twice.
type length int

var _ json.Unmarshaler = (*length)(nil)

// UnmarshalJSON counts the elements. What is no list has none, and is refused later.
func (l *length) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return nil
	}
	n := length(0)
	for d.More() {
		if err := d.Decode(&skipped{}); err != nil {
			return err
		}
		n++
	}
	*l = max(*l, n)
	return nil
}

// requestList is how many requests there are, and the most traces that one of them has.
type requestList struct{ n, traces length }

// UnmarshalJSON counts them.
func (l *requestList) UnmarshalJSON(raw []byte) error {
	if err := l.n.UnmarshalJSON(raw); err != nil || l.n > maxRequests {
		return err
	}
	var list []struct {
		Traces length `json:"traces"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, r := range list {
		l.traces = max(l.traces, r.Traces)
	}
	return nil
}

// usageList is how many containers there are, and the most points that one of them has.
type usageList struct{ n, points length }

// UnmarshalJSON counts them.
func (l *usageList) UnmarshalJSON(raw []byte) error {
	if err := l.n.UnmarshalJSON(raw); err != nil || l.n > MaxUsage {
		return err
	}
	var list []struct {
		Points length `json:"points"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, u := range list {
		l.points = max(l.points, u.Points)
	}
	return nil
}

// skipped is a value of which nothing is kept.
type skipped struct{}

// UnmarshalJSON keeps nothing.
func (*skipped) UnmarshalJSON([]byte) error { return nil }
