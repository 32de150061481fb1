package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// manyTimes is how many times as many streams are open in a worker alone.
const manyTimes = 10

// eventRates are how many events a second each stream has.
var eventRates = []int{1, 10, 50}

// benchStreams compares the times of events with the server's, and measures what open streams cost.
func benchStreams(ctx context.Context, b *bench) (string, error) {
	d := b.length(10 * time.Second)
	var last strings.Builder
	last.WriteString("bench-streams:")
	fmt.Fprintf(b.out, "One core for the generator, one for the server; %v each, the median of %d rounds counts.\n", d, b.rounds)
	for _, over := range streamProtocols {
		line, err := b.streamAccuracy(ctx, over, d)
		if err != nil {
			return "", err
		}
		last.WriteString(line)
	}
	list, missing, err := b.streamers(ctx)
	if err != nil {
		return "", err
	}
	line, err := b.streamCosts(ctx, list, d)
	if err != nil {
		return "", err
	}
	last.WriteString(line)
	for _, m := range missing {
		fmt.Fprintf(b.out, "\nNot measured: %s\n", m)
	}
	return last.String(), nil
}

// weighted is a request by its share of all.
type weighted struct {
	name, path string
	weight     int32
}

// streamTest is a LoadTest of requests that are answered by streams of server-sent events, which end with until.
func streamTest(url, until string, s v1beta1.Step, requests ...weighted) *v1beta1.LoadTest {
	lt := loadTest(url, 1, s)
	lt.Spec.Requests = nil
	for _, p := range requests {
		lt.Spec.Requests = append(lt.Spec.Requests, v1beta1.Request{
			Name: p.name, Weight: &p.weight,
			HTTP: &v1beta1.HTTPRequest{Path: p.path, Stream: &v1beta1.Stream{Events: v1beta1.StreamSSE, Until: until}},
		})
	}
	return lt
}
