package decision

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// maxMissed bounds how many times are counted that were missed in a row.
const maxMissed = 100

// times are those of a schedule, in its time zone. All are whole minutes. An hour that
// does not exist, as clocks go forward, has none; in one that is there twice, each of its
// times is there twice.
type times struct {
	spec *cron.SpecSchedule
	zone *time.Location
}

// foreseen is how far ahead a time is looked for.
const foreseen = 5 // years

// parse reads schedule and timeZone.
func parse(spec *v1beta1.LoadTestScheduleSpec, now time.Time) (*times, error) {
	zone, err := time.LoadLocation(spec.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("spec.timeZone: %q is not a time zone; give an IANA name such as Europe/Berlin", spec.TimeZone)
	}
	parsed, err := cron.ParseStandard(spec.Schedule)
	if err != nil {
		return nil, fmt.Errorf("spec.schedule: %w", err)
	}
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("spec.schedule: %q is an interval; give the five fields of cron instead", spec.Schedule)
	}
	t := &times{fields, zone}
	if t.next(now).IsZero() {
		return nil, fmt.Errorf("spec.schedule: %q has no time in the next five years", spec.Schedule)
	}
	return t, nil
}

// next is the first time after an instant; zero: there is none in five years. Between two changes of
// its offset a zone has a fixed one, and each such stretch is searched by itself: across a change at
// midnight, the search of the library is a day off.
func (t *times) next(after time.Time) time.Time {
	last := after.AddDate(foreseen, 0, 0)
	for stretch := after.In(t.zone); stretch.Before(last); {
		name, offset := stretch.Zone()
		fixed := *t.spec
		fixed.Location = time.FixedZone(name, offset)
		at := fixed.Next(after)
		_, end := stretch.ZoneBounds()
		if end.IsZero() || !at.IsZero() && at.Before(end) {
			return at
		}
		stretch, after = end, end.Add(-time.Second) // the next second is the first of the next stretch
	}
	return time.Time{}
}

// latest is the last time after since and not after until; zero: there is none. The minutes
// back from until are bisected, as a schedule may have been away for years.
func (t *times) latest(since, until time.Time) time.Time {
	from := func(minutes int) time.Time {
		if at := until.Add(-time.Duration(minutes) * time.Minute); at.After(since) {
			return at
		}
		return since
	}
	has := func(minutes int) bool {
		at := t.next(from(minutes))
		return !at.IsZero() && !at.After(until)
	}
	all := max(0, int(until.Sub(since)/time.Minute)+1)
	if n := sort.Search(all+1, has); n <= all {
		return t.next(from(n))
	}
	return time.Time{}
}

// first are the times after since and not after until, at most the first maxMissed of them.
func (t *times) first(since, until time.Time) []time.Time {
	var list []time.Time
	for at := t.next(since); !at.IsZero() && !at.After(until) && len(list) < maxMissed; at = t.next(at) {
		list = append(list, at)
	}
	return list
}

// spelled is schedule and timeZone in one text.
func spelled(spec *v1beta1.LoadTestScheduleSpec) string {
	return strings.TrimSpace(spec.Schedule + " " + spec.TimeZone)
}
