package audit

import "fmt"

// underWay is how many creations of the seed are under way at once: 16 of each of
// the spec's two workers.
const underWay = 2 * 16

// Again is how many creations of the seed were sent again, after one that was not
// answered in time and yet stored: as many links as there are more than were asked
// for. Each was answered in the end, so that none may be missing.
//
// The status does not say how many were sent again. A machine that stalls, as one
// does on which databases have just been started, costs each creation that is under
// way one answer, and the next ones none: as many may be there twice, but not all
// that were asked for.
func Again(before, after int64) (int64, error) {
	n := after - before
	switch {
	case n < Seeded:
		return 0, fmt.Errorf("seeded %d: %d of %d were lost", n, Seeded-n, Seeded)
	case n > Seeded+underWay:
		return 0, fmt.Errorf("seeded %d: %d more than %d, of which at most %d are sent again in a stall", n, n-Seeded, Seeded, underWay)
	}
	return n - Seeded, nil
}
