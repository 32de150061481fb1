package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
	_ "time/tzdata" // an image need not have it

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// quietHours are quiet hours as they were read.
type quietHours struct {
	namespaces []string
	days       []time.Weekday // empty: all
	// from and to are minutes since midnight. If to is not after from, it is on the next
	// day.
	from, to int
	zone     *time.Location
	reason   string
}

var weekdays = map[string]time.Weekday{
	"Mon": time.Monday, "Tue": time.Tuesday, "Wed": time.Wednesday, "Thu": time.Thursday,
	"Fri": time.Friday, "Sat": time.Saturday, "Sun": time.Sunday,
}

// timeOfDay is a time of day; 24:00 is the midnight at the end of a day.
var timeOfDay = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])$|^(24):(00)$`)

func readQuietHours(list []config.QuietHours) ([]quietHours, error) {
	var read []quietHours
	for i, c := range list {
		q, err := readQuiet(c)
		if err != nil {
			return nil, fmt.Errorf("quietHours[%d].%w", i, err)
		}
		read = append(read, q)
	}
	return read, nil
}

func readQuiet(c config.QuietHours) (quietHours, error) {
	q := quietHours{namespaces: c.Namespaces, reason: c.Reason}
	var ok bool
	if q.from, ok = minutes(c.From); !ok || q.from == 24*60 {
		return q, fmt.Errorf("from: %q must be a time of day such as 22:00", c.From)
	}
	if q.to, ok = minutes(c.To); !ok {
		return q, fmt.Errorf("to: %q must be a time of day such as 06:00, or 24:00", c.To)
	}
	for n, name := range c.Days {
		day, ok := weekdays[name]
		if !ok {
			return q, fmt.Errorf("days[%d]: %q must be Mon, Tue, Wed, Thu, Fri, Sat or Sun", n, name)
		}
		q.days = append(q.days, day)
	}
	var err error
	if q.zone, err = time.LoadLocation(c.TimeZone); err != nil || c.TimeZone == "Local" {
		return q, fmt.Errorf("timeZone: %q must be a name of the IANA database such as Europe/Berlin", c.TimeZone)
	}
	return q, nil
}

func minutes(s string) (n int, ok bool) {
	m := timeOfDay.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	hours, _ := strconv.Atoi(m[1] + m[3])
	rest, _ := strconv.Atoi(m[2] + m[4])
	return 60*hours + rest, true
}

// span is one night, as it were: from begin until end, without end.
type span struct {
	begin, end time.Time
	of         *quietHours
}

// reach is how many days ahead hours are looked for: those of any day of the week come
// within eight.
const reach = 8

// spans are those that may be going on at an instant, or begin in the days after it, in
// no order.
func spans(list []quietHours, now time.Time) []span {
	var all []span
	for i := range list {
		q := &list[i]
		year, month, today := now.In(q.zone).Date()
		for day := today - 2; day <= today+reach; day++ {
			if len(q.days) > 0 && !slices.Contains(q.days, time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday()) {
				continue
			}
			last := day
			if q.to <= q.from {
				last++
			}
			all = append(all, span{earliest(year, month, day, q.from, q.zone), latest(year, month, last, q.to, q.zone), q})
		}
	}
	return all
}

// A clock that is set back shows a time twice, and one that is set ahead leaves some out.
// Quiet hours have all of it: they begin at the earliest instant that a clock of either
// offset shows the time, and end at the latest.
func earliest(year int, month time.Month, day, minute int, zone *time.Location) time.Time {
	return slices.MinFunc(instants(year, month, day, minute, zone), time.Time.Compare)
}

func latest(year int, month time.Month, day, minute int, zone *time.Location) time.Time {
	return slices.MaxFunc(instants(year, month, day, minute, zone), time.Time.Compare)
}

// instants are those at which a clock of the zone shows the time. If there is none, as the
// clock is set ahead then, they are those at which it would with the offsets before and
// after.
func instants(year int, month time.Month, day, minute int, zone *time.Location) []time.Time {
	shown := time.Date(year, month, day, 0, minute, 0, 0, time.UTC)
	var all, exact []time.Time
	for _, near := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		_, offset := shown.Add(near).In(zone).Zone()
		t := shown.Add(-time.Duration(offset) * time.Second)
		all = append(all, t)
		if _, actual := t.In(zone).Zone(); actual == offset {
			exact = append(exact, t)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return all
}

// quietAt says until when it is quiet; nil: it is not. Hours that follow without a gap are
// as one.
func quietAt(list []quietHours, now time.Time) *Hold {
	all := spans(list, now)
	slices.SortStableFunc(all, func(a, b span) int { return a.begin.Compare(b.begin) })
	var of *quietHours
	until := now
	for _, s := range all {
		if s.begin.After(until) {
			break
		}
		if s.end.After(until) {
			until = s.end
			if of == nil {
				of = s.of
			}
		}
	}
	if of == nil {
		return nil
	}
	shown := until.In(of.zone).Format("Mon 2 Jan 15:04 MST")
	return &Hold{Cause: Quiet, Until: until, Why: fmt.Sprintf("Quiet hours until %s%s (operator configuration).", shown, because(of.reason))}
}

// nextQuiet is the first instant after now at which hours begin.
func nextQuiet(list []quietHours, now time.Time) time.Time {
	var next time.Time
	for _, s := range spans(list, now) {
		if s.begin.After(now) && (next.IsZero() || s.begin.Before(next)) {
			next = s.begin
		}
	}
	return next
}

func (p *Policy) quietOf(namespace string) []quietHours {
	var list []quietHours
	for _, q := range p.quiet {
		if selects(q.namespaces, namespace) {
			list = append(list, q)
		}
	}
	return list
}
