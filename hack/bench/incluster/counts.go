package incluster

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// counts are what the target counted so far.
func (r *run) counts(ctx context.Context) (tally, error) {
	if r.test.Target == truth {
		c, err := r.truthCounters(ctx)
		return tally{c.Requests, c.Answered}, err
	}
	page, err := r.api.text(ctx, "/api/v1/namespaces/"+Namespace+"/services/"+shortener+":80/proxy/metrics")
	if err != nil {
		return tally{}, err
	}
	return fromShortener(string(page))
}

// count enters what the target counted, and what is true of it.
func (r *run) count(ctx context.Context, before tally, into *Result) error {
	after, err := r.counts(ctx)
	if err != nil {
		return err
	}
	into.Sent, into.Served = after.sent-before.sent, after.served-before.served
	if r.test.Target != truth {
		return nil
	}
	c, err := r.truthCounters(ctx)
	if err != nil {
		return err
	}
	var records []groundtruth.Record
	if err := r.api.get(ctx, truthPath+"/records", &records); err != nil {
		return err
	}
	into.True = trueP99(r.test, c.First, c.Stalls, records)
	return nil
}

const truthPath = podPath + "/" + truth + ":8081/proxy"

func (r *run) truthCounters(ctx context.Context) (c groundtruth.Counters, err error) {
	err = r.api.get(ctx, truthPath+"/counters", &c)
	return c, err
}

// tally is what a target counted.
type tally struct{ sent, served int64 }

// decided is a count of requests in the shortener's metrics.
var decided = regexp.MustCompile(`(?m)^shortener_requests_total\{code="(\d)xx",route="(?:redirect|create)"\} (\S+)$`)

// fromShortener adds up the requests that the load consists of, as the shortener counts them: those
// for other pages are of probes. It served those that it answered with a status below 400.
func fromShortener(metrics string) (t tally, err error) {
	found := decided.FindAllStringSubmatch(metrics, -1)
	if len(found) == 0 {
		return t, errors.New("the shortener's metrics have no shortener_requests_total of redirects or creations")
	}
	for _, m := range found {
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return t, fmt.Errorf("shortener_requests_total: %w", err)
		}
		t.sent += int64(n)
		if m[1] < "4" {
			t.served += int64(n)
		}
	}
	return t, nil
}
