package pace

import (
	"math"
	"time"
)

// Share is Count numbers: First, First+Stride, First+2*Stride, … Numbers are those of
// users or hits, from 0, over all workers.
type Share struct {
	First, Stride, Count int64
}

// Number returns the j-th number of the share.
func (s Share) Number(j int64) int64 { return s.First + j*s.Stride }

// Of returns the share of the same worker in n numbers.
func (s Share) Of(n int64) Share {
	s.Count = DivideUp(max(0, n-s.First), s.Stride)
	return s
}

// DivideUp is n/by, rounded up. n is not below 0, and by is above it.
func DivideUp(n, by int64) int64 {
	quotient := n / by
	if n%by > 0 {
		quotient++
	}
	return quotient
}

// Below returns how many numbers of the share are less than n.
func (s Share) Below(n int64) int64 {
	if n <= s.First || s.Count == 0 {
		return 0
	}
	return min(s.Count, (n-s.First-1)/s.Stride+1)
}

// Arrivals is one worker's share of a schedule of all workers.
type Arrivals struct {
	All   Schedule
	Share Share
}

var _ Schedule = Arrivals{}

// Due returns when the worker's j-th hit is due.
func (a Arrivals) Due(j int64) time.Duration {
	if j >= a.Share.Count {
		return math.MaxInt64
	}
	return a.All.Due(a.Share.Number(j))
}

// Before returns how many of the worker's hits are due before t.
func (a Arrivals) Before(t time.Duration) int64 { return a.Share.Below(a.All.Before(t)) }

// Users is one worker's share of a schedule in which Total users take turns: the k-th
// request of user u is hit k*Total+u.
type Users struct {
	Rate  Rate
	Share Share
	Total int64
	// WarmUp is how long the schedule has run at time 0. The requests of that time are
	// due before 0.
	WarmUp time.Duration
}

// Due returns when the k-th request of the worker's j-th user is due.
func (u Users) Due(j, k int64) time.Duration {
	return u.Rate.Due(u.Hit(j, k)) - u.WarmUp
}

// Hit returns the number, over all workers, of the k-th request of the j-th user.
func (u Users) Hit(j, k int64) int64 { return k*u.Total + u.Share.Number(j) }

// Turn returns the worker's n-th request: it is the k-th of its j-th user. Due times
// never decrease with n.
func (u Users) Turn(n int64) (j, k int64) { return n % u.Share.Count, n / u.Share.Count }

// Before returns how many requests of the worker's users are due before t, those of
// the warm-up included.
func (u Users) Before(t time.Duration) int64 {
	hits := u.Rate.Before(t + u.WarmUp)
	return hits/u.Total*u.Share.Count + u.Share.Below(hits%u.Total)
}
