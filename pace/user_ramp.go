package pace

import (
	"math"
	"math/bits"
	"time"
)

// UserRamp is a number of users that goes linearly From one number To another over Length.
// In time t it is
//
//	n(t) = From + (To−From)·t/Length
//
// and user u takes part while n(t) > u + 1/2. So n(t) is rounded to the nearest whole
// number of users, the mean number is (From+To)/2, and the last users to begin are the
// first to end. With From = To, all take part all the time.
type UserRamp struct {
	From, To int64
	Length   time.Duration
}

// Forever is the begin of a user who takes part from the start of the step on.
const Forever = time.Duration(math.MinInt64)

// Most is the largest number of users.
func (r UserRamp) Most() int64 { return max(r.From, r.To) }

// Span is from when until before when a user takes part, rounded down to a nanosecond.
func (r UserRamp) Span(user int64) (begin, end time.Duration) {
	begin, end = Forever, r.Length
	switch {
	case user >= r.From:
		begin = r.at(2*(user-r.From)+1, r.To-r.From)
	case user >= r.To:
		end = r.at(2*(r.From-user)-1, r.From-r.To)
	}
	return begin, end
}

// at is when the number of users has changed by so many halves of a user, out of so many
// users in all.
func (r UserRamp) at(halves, users int64) time.Duration {
	hi, lo := bits.Mul64(uint64(r.Length), uint64(halves))
	t, _ := bits.Div64(hi, lo, 2*uint64(users)) // halves < 2*users, so that it fits
	return time.Duration(t)
}

// RampedUsers is the schedule of the users of a ramp who send requests at a rate Each, for
// as long as they take part. A user's k-th request would be due at k/Each + offset; it has
// those from the first that is due after its begin on.
//
// The offsets are a part of 1/Each that is the fraction of u times the golden ratio: by the
// three-distance theorem, those of any users 0 to n are spread nearly evenly. Without them,
// users who begin a second apart and send once a second would all send at once.
type RampedUsers struct {
	Ramp UserRamp
	Each Rate
	// WarmUp is how long the schedule has run at time 0. The requests of that time are
	// due before 0.
	WarmUp time.Duration
}

// golden is 2^64 over the golden ratio.
const golden = 0x9e3779b97f4a7c15

// offset is that of a user's requests, from the beginning of the schedule.
func (u RampedUsers) offset(user int64) time.Duration {
	part, _ := bits.Mul64(uint64(user)*golden, uint64(u.Each.Due(1)))
	return time.Duration(part)
}

// Due returns when a user's k-th request is due; ok is false when it has none.
func (u RampedUsers) Due(user, k int64) (due time.Duration, ok bool) {
	begin, end := u.Ramp.Span(user)
	due = u.Each.Due(u.first(user, begin)+k) + u.offset(user) - u.WarmUp
	return due, due < end
}

// Before returns how many requests of a user are due before t, those of the warm-up
// included.
func (u RampedUsers) Before(user int64, t time.Duration) int64 {
	begin, end := u.Ramp.Span(user)
	return max(0, u.slots(user, min(t, end))-u.first(user, begin))
}

// InWindow returns how many requests of a user are due in the window, without those of the
// warm-up.
func (u RampedUsers) InWindow(user int64) int64 {
	begin, end := u.Ramp.Span(user)
	return max(0, u.slots(user, end)-u.slots(user, max(begin, 0)))
}

// first is the number of the user's first slot that is not before its begin.
func (u RampedUsers) first(user int64, begin time.Duration) int64 {
	return u.slots(user, max(begin, -u.WarmUp))
}

// slots is how many slots of a user, whether it takes part or not, are before t.
func (u RampedUsers) slots(user int64, t time.Duration) int64 {
	return u.Each.Before(t + u.WarmUp - u.offset(user))
}
