package attack

import "time"

// unsentByGenerator is how many requests that were due before the end of the window, and not
// sent, a perfect generator would have sent. Users who think count theirs themselves.
func (f *userFeed) unsentByGenerator(end time.Duration) (sum int64) {
	switch s := f.schedule.(type) {
	case scheduledUsers:
		for user := range f.states {
			sum += f.states[user].sentIdeally(f.unsent(s, user, end), end)
		}
	case *closedUsers:
		for user := range f.states {
			// Of a burst, at least the next one of each user that would have been free; what
			// would have followed depends on the answer.
			if u := &f.states[user]; u.k < s.requests && u.idealFree < end {
				sum++
			}
		}
	}
	return sum
}

// sentIdeally is how many of a number of requests, due before the end of the window, the user
// would have sent with a perfect generator: one after another from when it would have been
// free, if each takes as long as its last one.
func (u *userState) sentIdeally(unsent int64, end time.Duration) int64 {
	left := end - u.idealFree
	switch {
	case unsent <= 0 || left <= 0:
		return 0
	case u.took <= 0:
		return unsent
	}
	return min(unsent, int64((left-1)/u.took)+1)
}
