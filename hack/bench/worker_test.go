package main

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestContendersAreThoseThatSpeakTheProtocol(t *testing.T) {
	var found []foundPeer
	for _, p := range peer.All {
		found = append(found, foundPeer{peer: p})
	}
	const varied, fast16 = ", variables", fastGHZ + ", 4 x 16"
	b := &bench{}
	tests := map[string]struct {
		rows []contender
		want map[protocol][]string
	}{
		"rates": {b.contenders(found, time.Second), map[protocol][]string{
			overTCP:   {ourUsers, ourRate, "wrk", "bombardier", "vegeta", "hey", "k6"},
			overTLS:   {ourUsers, ourRate, "wrk", "vegeta", "k6", "h2load"},
			overHTTP2: {ourUsers, our16, "vegeta", "k6", "h2load", h2load16},
			overGRPC:  {ourUsers, our16, ourUsers + varied, our16 + varied, "k6", "h2load", h2load16, "ghz", ghz16, fastGHZ, fast16},
		}},
		"memory": {b.holders(found), map[protocol][]string{
			overTCP:   {ourUsers, "wrk", "vegeta"},
			overTLS:   {ourUsers, "wrk"},
			overHTTP2: {ourUsers, "h2load", our100, "h2load, 100 x 100"},
			overGRPC:  {our100, "h2load, 100 x 100", "ghz, 100 x 100", fastGHZ + ", 100 x 100"},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := map[protocol][]string{}
			for _, c := range tt.rows {
				got[c.over] = append(got[c.over], c.name)
			}
			same.As(t, "rows", tt.want, got)
		})
	}
}
