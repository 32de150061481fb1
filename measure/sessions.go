package measure

// Sessions are how many users should have come at a rate, each of whom carries out one journey or one
// single request of the mix, and how many of them have sent their first request. What is due and not
// started is among the unsent requests, each session with its first one.
type Sessions struct{ Due, Started int64 }

// Offered is how much of a load was due, and how much of that was not sent: for want of room, and what
// a perfect generator would have sent. OfSessions says that it counts sessions, not requests.
type Offered struct {
	Due, Unsent, WithoutRoom, ByGenerator int64
	OfSessions                            bool
}

// Offered counts requests, or sessions if a larger part of these was not started: each of them would have
// sent more than its first request, which is all of it that was due.
func (s *Measurement) Offered() Offered {
	requests := Offered{Due: s.Due, Unsent: s.Unsent, WithoutRoom: s.UnsentWithoutRoom, ByGenerator: s.UnsentByGenerator}
	unsent := s.Sessions.Due - s.Sessions.Started
	sessions := Offered{
		Due: s.Sessions.Due, Unsent: unsent, WithoutRoom: min(unsent, s.UnsentWithoutRoom), ByGenerator: min(unsent, s.UnsentByGenerator), OfSessions: true,
	}
	if float64(unsent)*float64(s.Due) > float64(s.Unsent)*float64(s.Sessions.Due) {
		return sessions
	}
	return requests
}
