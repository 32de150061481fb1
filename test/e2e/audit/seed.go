package audit

import "fmt"

// Again is how many creations of the seed were sent again, after one that was not
// answered in time and yet stored: as many links as there are more than were asked
// for. Each was answered in the end, so that none may be missing.
func Again(before, after int64) (int64, error) {
	n := after - before
	if n < Seeded {
		return 0, fmt.Errorf("seeded %d: %d of %d were lost", n, Seeded-n, Seeded)
	}
	return n - Seeded, nil
}
