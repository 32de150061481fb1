package results

import (
	"fmt"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// lacking is a course of 100 slots in which so many of ten answers are missing in each slot from
// 40 to 49, whose requests wait until all are answered together.
func lacking(each int64, edits ...func(*course)) course {
	return courseOf(100, append([]func(*course){func(c *course) {
		t := c.merged.Timeline
		for i := range c.slots {
			t.Outstanding[i] = 2
		}
		for i := range int64(10) {
			t.Answered[40+i] -= each
			t.Outstanding[40+i] += each * (i + 1)
		}
		t.Answered[50] += 10 * each
		took(map[time.Duration]int64{ms: 1000 - 10*each, time.Second: 10 * each})(c)
	}}, edits...)...)
}

// Requests stood if they took too long, and were outstanding together, and their answers were
// missing meanwhile: twenty of them at least.
func TestRequestsThatStoodTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		course    course
		undecided int64
		want      time.Duration
	}{
		"a twentieth":                   {lacking(5), 0, 500 * ms},
		"as few as count":               {lacking(2), 0, 200 * ms},
		"one answer fewer is missing":   {lacking(2, answered(45, 9)), 0, 0},
		"none took long":                {lacking(5, took(map[time.Duration]int64{ms: 1000})), 0, 0},
		"twenty took long":              {lacking(5, took(map[time.Duration]int64{ms: 980, time.Hour: 20})), 0, 200 * ms},
		"nineteen did":                  {lacking(5, took(map[time.Duration]int64{ms: 981, time.Hour: 19})), 0, 0},
		"some of them have no answer":   {lacking(5, took(map[time.Duration]int64{ms: 981, time.Hour: 19}), unfinished(6, 5)), 0, 200 * ms},
		"of those that are undecided":   {lacking(5, took(map[time.Duration]int64{ms: 981, time.Hour: 19}), unfinished(5, 5)), 1, 200 * ms},
		"they were not outstanding":     {lacking(5, func(c *course) { c.merged.Timeline.Outstanding = [measure.TimelineSlots]int64{} }), 0, 0},
		"those that were late at last":  {lacking(5, took(map[time.Duration]int64{ms: 970, 106 * ms: 30})), 0, 500 * ms}, // of 30 that are longer than 53 ms
		"nothing was due":               {lacking(5, func(c *course) { c.merged.Due = 0 }), 0, 0},
		"users who wait for replies":    {lacking(5, func(c *course) { c.load.Users = 4 }), 0, 0},
		"at the end of a ramp to twice": {lacking(5, func(c *course) { c.high[49] = 20 }), 0, 252500 * time.Microsecond},
	} {
		if got := tc.course.standingRequests(tc.undecided); (got - tc.want).Abs() > 10*time.Microsecond {
			t.Errorf("%s: stood for %v, want %v", name, got, tc.want)
		}
	}
}

func unfinished(n, undecided int64) func(*course) {
	return func(c *course) { c.total.Outcomes[measure.Unfinished], c.total.Undecided = n, undecided }
}

// Chance explains two standard deviations of the answers.
func TestAnswersThatAreMissingUntilThePeak(t *testing.T) {
	for name, tc := range map[string]struct {
		course course
		peak   int
		from   int64
		want   string
	}{
		"all of them":              {lacking(5), 49, 2, "50.00"},
		"from where fewer waited":  {lacking(5), 49, 27, "23.68"},
		"until an earlier peak":    {lacking(5), 44, 2, "23.68"},
		"as many as chance":        {lacking(2), 49, 2, "20.00"},
		"fewer":                    {lacking(2, answered(45, 9)), 49, 2, "0.00"},
		"from the beginning on":    {lacking(5, func(c *course) { c.merged.Timeline.Outstanding[0] = 9 }, answered(0, 0)), 0, 2, "9.49"},
		"what came at once counts": {lacking(5, answered(0, 1000)), 49, 2, "50.00"},
		"of few others, the usual": {courseOf(9, answered(4, 0), func(c *course) { c.merged.Timeline.Outstanding[4], c.high[4] = 5, 70 }), 4, 2, "70.00"},
	} {
		same.As(t, name, tc.want, fmt.Sprintf("%.2f", tc.course.missingUntil(tc.peak, tc.from)))
	}
}

// How much longer than others a request of users must have taken falls with their number. A quarter of them must have
// waited: as many keep answers from coming that are fewer by a quarter.
func TestUsersWhoStood(t *testing.T) {
	users := func(n int32, slow time.Duration, edits ...func(*course)) course {
		return courseOf(100, append([]func(*course){func(c *course) {
			c.load.Users, c.merged.UserTime = n, time.Duration(n)*10*time.Second
			waited := int64(max(5, n/4))
			took(map[time.Duration]int64{ms: 199 * waited, slow: waited})(c)
		}, answered(10, 0, 0, 0)}, edits...)...)
	}
	for name, tc := range map[string]struct {
		course    course
		undecided int64
		stood     bool
	}{
		"of 100, three times as long":           {users(100, 54*ms), 0, true},
		"not so long":                           {users(100, 52*ms), 0, false},
		"of 20, five times":                     {users(20, 56*ms), 0, true},
		"not five times":                        {users(20, 54*ms), 0, false},
		"of five, twenty times":                 {users(5, 71*ms, took(map[time.Duration]int64{ms: 998, 71 * ms: 2})), 0, true},
		"not twenty times":                      {users(5, 69*ms, took(map[time.Duration]int64{ms: 998, 69 * ms: 2})), 0, false},
		"one of them":                           {users(1, 71*ms, took(map[time.Duration]int64{ms: 999, 71 * ms: 1})), 0, true},
		"no twenty times":                       {users(1, 69*ms, took(map[time.Duration]int64{ms: 999, 69 * ms: 1})), 0, false},
		"fewer than a quarter of them":          {users(104, 54*ms, took(map[time.Duration]int64{ms: 4975, 54 * ms: 25})), 0, false},
		"undecided ones waited":                 {users(100, ms), 25, true},
		"fewer of these":                        {users(100, ms), 24, false},
		"answers did not dip":                   {users(100, 54*ms, answered(10, 10, 10, 10)), 0, false},
		"the time of the users is not known":    {users(100, 54*ms, func(c *course) { c.merged.UserTime = 0 }), 0, false},
		"nor that of arrivals":                  {users(100, 54*ms, func(c *course) { c.load.Users = 0 }), 0, false},
		"one in 200 may be what a target does":  {users(20, time.Second, took(map[time.Duration]int64{ms: 994, time.Second: 6})), 0, true},
		"more of them are, of a smaller number": {users(2, time.Second, took(map[time.Duration]int64{ms: 994, time.Second: 6})), 0, false},
	} {
		if got := tc.course.standingUsers(tc.undecided); (got > 0) != tc.stood {
			t.Errorf("%s: stood for %v", name, got)
		}
	}
	half := users(2, ms, answered(10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
	if got := half.standingUsers(1); got != time.Second { // of 5 s, as far as answers dipped
		t.Errorf("stood for %v, want 1s", got)
	}
	ramp := users(2, ms)
	to := v1beta1.NewDecimal("1000")
	ramp.load.RampTo = &to
	ramp.merged.UserTime = 1000 * 100 * time.Second
	if got := ramp.standingUsers(126); got != 126*ms { // of 501 on average
		t.Errorf("a quarter of the users of a ramp stood for %v, want 126ms", got)
	}
}
