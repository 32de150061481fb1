package runmetrics

import (
	"cmp"
	"slices"
)

// candidate is a request, by name, that may have series.
type candidate struct {
	*part
	// test is the place of its LoadTest in the order of importance, and finished says that the
	// LoadTest is.
	test     int
	finished bool
	// place is its own among the requests of its LoadTest: 0 is the one of which the most failed.
	place        int
	sent, failed int64
}

// candidates are the requests of a LoadTest, those of which the most failed first, and of as
// many failures those of which the most were sent.
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

// byNeed is the order in which requests have series: those that failed, those of LoadTests that
// have not finished, and the others. In each of these the first of every LoadTest comes before
// the second of any, so that a LoadTest with many requests hides none of another; and of one
// place the one of which the most failed comes first.
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

// within are the candidates that have series when at most so many may.
func within(list []candidate, most int) []candidate {
	slices.SortFunc(list, byNeed)
	return list[:min(len(list), max(most, 0))]
}
