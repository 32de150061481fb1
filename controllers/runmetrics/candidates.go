package runmetrics

import (
	"cmp"
	"slices"
)

// candidate is a request, by name, that may have series.
type candidate struct {
	*part
	// test is the rank of its LoadTest; finished reports whether that LoadTest has finished.
	test     int
	finished bool
	// place is its rank among the requests of its LoadTest: 0 has the most failures.
	place        int
	sent, failed int64
}

// candidates returns the requests of a LoadTest, sorted by failures, then by requests sent, the
// largest first.
func (p *parts) candidates(test int, finished bool) []candidate {
	list := make([]candidate, len(p.list))
	for i := range p.list {
		of := &p.list[i]
		counts := of.counts()
		list[i] = candidate{part: of, test: test, finished: finished, sent: counts[partSent], failed: counts[partFailed]}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.failed, a.failed), cmp.Compare(b.sent, a.sent))
	})
	for i := range list {
		list[i].place = i
	}
	return list
}

// byNeed orders requests by who gets series first: requests with failures, then requests of
// LoadTests that have not finished, then the others. Within each group, the first request of
// every LoadTest comes before the second of any, so that a LoadTest with many requests does not
// take the series of another; among equal ranks, more failures come first.
func byNeed(a, b candidate) int {
	return cmp.Or(
		cmp.Compare(a.need(), b.need()),
		cmp.Compare(a.place, b.place),
		cmp.Compare(b.failed, a.failed),
		cmp.Compare(a.test, b.test),
	)
}

func (c *candidate) need() int {
	switch {
	case c.failed > 0:
		return 0
	case !c.finished:
		return 1
	default:
		return 2
	}
}

// within returns the candidates that get series, at most that many.
func within(list []candidate, most int) []candidate {
	slices.SortFunc(list, byNeed)
	return list[:min(len(list), max(most, 0))]
}
