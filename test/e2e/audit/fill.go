package audit

import "fmt"

// underWay is how many creations of the fill are under way at once: 16 of each of
// the spec's two workers.
const underWay = 2 * 16

// Again is how many creations of the fill were sent again, after one that was not
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
	case n < Filled:
		return 0, fmt.Errorf("filled %d: %d of %d were lost", n, Filled-n, Filled)
	case n > Filled+underWay:
		return 0, fmt.Errorf("filled %d: %d more than %d, of which at most %d are sent again in a stall", n, n-Filled, Filled, underWay)
	}
	return n - Filled, nil
}
