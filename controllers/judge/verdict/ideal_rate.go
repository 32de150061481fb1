package verdict

import (
	"math"
	"math/big"
)

// idealFactor is by how many times more responses a second would have come at most, had the
// generator been perfect, than the number that came within the window, of all that came.
//
// Users without a rate send more in the time for which they were held up. A burst ends
// earlier by as much as its longest time is shorter. Of other loads, what came after the
// window might have come within it, and what the generator did not send might have been
// answered.
func (s sample) idealFactor(inWindow, all int64) *big.Rat {
	load, one := &s.step.Load, big.NewRat(1, 1)
	switch {
	case inWindow == 0:
		return one
	case load.IsBurst():
		window := s.merged.Window
		window -= min(window/2, max(0, s.request.Response.Max()-s.request.Ideally().Max()))
		return big.NewRat(int64(s.merged.Window), int64(window))
	case !load.Arrives() && load.RatePerUser == nil:
		if s.merged.UserTime <= s.merged.HeldUp {
			return one
		}
		return big.NewRat(int64(s.merged.UserTime), int64(s.merged.UserTime-s.merged.HeldUp))
	}
	return big.NewRat(inWindow+min(s.pushedOut(inWindow), all-inWindow)+s.withheld()+s.generatorsFailures(), inWindow)
}

// pushedOut is how many responses the generator's delay can have pushed out of the window at
// most. With λ responses a second, the k-th last of an ideal window comes k/λ before its
// end and has to be delayed by as much; K of them take K²/2λ together, which is at most the
// whole delay D of all requests: K = √(2λD).
func (s sample) pushedOut(inWindow int64) int64 {
	h := s.request.Response
	delay := float64(h.Mean()-s.request.Ideally().Mean()) * float64(h.Count())
	if delay <= 0 {
		return 0
	}
	return int64(math.Ceil(math.Sqrt(2 * float64(inWindow) * delay / float64(s.merged.Window))))
}

// withheld is how many requests a perfect generator would have sent beyond those that were sent, at most.
// A session that was not started, of which one request was due, would have sent all of its own.
func (s sample) withheld() int64 {
	if s.step.Load.Sessions != nil {
		return s.merged.UnsentByGenerator * s.each
	}
	return s.unsentByGenerator()
}

// unsentByGenerator is how many of the requests that the threshold is about a perfect
// generator would have sent at most.
func (s sample) unsentByGenerator() int64 {
	return max(0, min(s.merged.UnsentByGenerator, s.request.Due-s.request.Sent))
}
