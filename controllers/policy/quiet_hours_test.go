package policy_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func at(t *testing.T, s string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, s)
	must.Succeed(t, err)
	return instant
}

func rulesOf(t *testing.T, document string) policy.Rules {
	t.Helper()
	p := load(t, document)
	return p.For("team-a")
}

func TestQuietHours(t *testing.T) {
	const (
		night   = `quietHours: [{from: "22:00", to: "06:00"}]`
		weekend = `quietHours: [{days: [Sat, Sun], from: "00:00", to: "24:00", timeZone: Europe/Berlin}]`
		early   = `quietHours: [{from: "01:30", to: "02:30", timeZone: America/New_York}]`
		newYork = `quietHours: [{from: "22:00", to: "06:00", timeZone: America/New_York}]`
		fridays = `quietHours: [{days: [Fri], from: "22:00", to: "06:00"}]`
		always  = `quietHours: [{from: "12:00", to: "12:00"}]`
	)
	for name, tc := range map[string]struct {
		document, now string
		until         string // empty: it is not quiet
		next          string // when hours begin next
	}{
		"before":                   {night, "2026-11-22T21:59:59Z", "", "2026-11-22T22:00:00Z"},
		"at the beginning":         {night, "2026-11-22T22:00:00Z", "2026-11-23T06:00:00Z", "2026-11-23T22:00:00Z"},
		"after midnight":           {night, "2026-11-23T05:59:59Z", "2026-11-23T06:00:00Z", "2026-11-23T22:00:00Z"},
		"at the end":               {night, "2026-11-23T06:00:00Z", "", "2026-11-23T22:00:00Z"},
		"over the year":            {night, "2027-01-01T00:00:00Z", "2027-01-01T06:00:00Z", "2027-01-01T22:00:00Z"},
		"two days as one":          {weekend, "2026-11-20T23:00:00Z", "2026-11-22T23:00:00Z", "2026-11-21T23:00:00Z"},
		"a workday":                {weekend, "2026-11-22T23:00:00Z", "", "2026-11-27T23:00:00Z"},
		"the day they begin":       {fridays, "2026-11-28T05:00:00Z", "2026-11-28T06:00:00Z", "2026-12-04T22:00:00Z"},
		"not the day they begin":   {fridays, "2026-11-27T05:00:00Z", "", "2026-11-27T22:00:00Z"},
		"a day without a gap":      {always, "2026-11-27T12:00:00Z", "2026-12-06T12:00:00Z", "2026-11-28T12:00:00Z"},
		"in winter":                {newYork, "2026-12-01T03:00:00Z", "2026-12-01T11:00:00Z", "2026-12-02T03:00:00Z"},
		"in summer":                {newYork, "2026-07-01T02:00:00Z", "2026-07-01T10:00:00Z", "2026-07-02T02:00:00Z"},
		"the clock is set ahead":   {newYork, "2026-03-08T03:00:00Z", "2026-03-08T10:00:00Z", "2026-03-09T02:00:00Z"},
		"the clock is set back":    {newYork, "2026-11-01T02:00:00Z", "2026-11-01T11:00:00Z", "2026-11-02T03:00:00Z"},
		"a time that is twice":     {early, "2026-11-01T05:30:00Z", "2026-11-01T07:30:00Z", "2026-11-02T06:30:00Z"},
		"before it is twice":       {early, "2026-11-01T05:29:59Z", "", "2026-11-01T05:30:00Z"},
		"a time that is left out":  {early, "2026-03-08T06:30:00Z", "2026-03-08T07:30:00Z", "2026-03-09T05:30:00Z"},
		"after it was left out":    {early, "2026-03-08T07:30:00Z", "", "2026-03-09T05:30:00Z"},
		"no hours":                 {"", "2026-03-08T07:30:00Z", "", ""},
		"hours of other ones":      {`quietHours: [{namespaces: [shop], from: "00:00", to: "24:00"}]`, "2026-03-08T07:30:00Z", "", ""},
		"hours of this namespace":  {`quietHours: [{namespaces: ["team-*"], from: "07:00", to: "08:00"}]`, "2026-03-08T07:30:00Z", "2026-03-08T08:00:00Z", "2026-03-09T07:00:00Z"},
		"two that follow":          {`quietHours: [{from: "07:00", to: "08:00"}, {from: "08:00", to: "09:00"}]`, "2026-03-08T07:30:00Z", "2026-03-08T09:00:00Z", "2026-03-08T08:00:00Z"},
		"a zone of half an hour":   {`quietHours: [{from: "00:00", to: "06:00", timeZone: Asia/Kolkata}]`, "2026-03-08T00:29:59Z", "2026-03-08T00:30:00Z", "2026-03-08T18:30:00Z"},
		"half an hour is set back": {`quietHours: [{from: "01:45", to: "01:50", timeZone: Australia/Lord_Howe}]`, "2026-04-04T14:45:00Z", "2026-04-04T15:20:00Z", "2026-04-05T15:15:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			rules, now := rulesOf(t, tc.document), at(t, tc.now)
			hold := rules.Hold(now)
			switch {
			case tc.until == "" && hold != nil:
				t.Errorf("it is quiet until %v", hold.Until.UTC())
			case tc.until != "" && (hold == nil || hold.Cause != policy.Quiet || !hold.Ends() || !hold.Until.Equal(at(t, tc.until))):
				t.Errorf("got %+v, want until %s", hold, tc.until)
			}
			next := rules.NextQuiet(now)
			if tc.next == "" && !next.IsZero() || tc.next != "" && !next.Equal(at(t, tc.next)) {
				t.Errorf("they begin next at %v, want %s", next.UTC(), tc.next)
			}
		})
	}
}

func TestQuietHoursThatFollowHaveTheReasonOfTheFirst(t *testing.T) {
	hold := rulesOf(t, `quietHours: [{from: "08:00", to: "09:00", reason: Maintenance.}, {from: "07:00", to: "08:00", reason: Backup.}]`).Hold(at(t, "2026-03-08T07:30:00Z"))
	if want := "Quiet hours until Sun 8 Mar 09:00 UTC: Backup (operator configuration)."; hold == nil || hold.Why != want {
		t.Errorf("%+v, want %s", hold, want)
	}
}

// Each instant of two years at which a clock of New York shows a time of the hours is quiet,
// and hours are never over before their end is shown.
func TestQuietHoursAreThoseThatTheClockShows(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	must.Succeed(t, err)
	rules := rulesOf(t, `quietHours: [{days: [Sat], from: "23:15", to: "01:45", timeZone: America/New_York}]`)
	for now := at(t, "2026-01-01T00:07:00Z"); now.Year() < 2028; now = now.Add(15 * time.Minute) {
		shown := now.In(zone)
		minute := 60*shown.Hour() + shown.Minute()
		want := shown.Weekday() == time.Saturday && minute >= 23*60+15 || shown.Weekday() == time.Sunday && minute < 60+45
		got := rules.Hold(now) != nil
		if want && !got {
			t.Errorf("it is not quiet at %v", shown)
		}
		setBack := shown.Month() == time.November && shown.Weekday() == time.Sunday && shown.Hour() == 1
		if got && !want && !setBack && !rules.Hold(now).Until.Equal(now.Add(8*time.Minute)) {
			t.Errorf("it is quiet at %v", shown)
		}
	}
}

func TestQuietHoursAreChecked(t *testing.T) {
	for document, want := range map[string]string{
		`from: "24:00", to: "06:00"`:                           `quietHours[0].from: "24:00" must be a time of day`,
		`from: "7:00", to: "06:00"`:                            `quietHours[0].from: "7:00" must be`,
		`from: "22:60", to: "06:00"`:                           `quietHours[0].from: "22:60" must be`,
		`from: "22:00", to: "24:01"`:                           `quietHours[0].to: "24:01" must be`,
		`from: "22:00"`:                                        `quietHours[0].to: "" must be`,
		`from: "22:00", to: "06:00", days: [Mon, Tues]`:        `quietHours[0].days[1]: "Tues" must be Mon`,
		`from: "22:00", to: "06:00", timeZone: CEST`:           `quietHours[0].timeZone: "CEST" must be a name`,
		`from: "22:00", to: "06:00", timeZone: Local`:          `quietHours[0].timeZone: "Local" must be`,
		`from: "22:00", to: "06:00", timeZone: ../etc/passwd`:  `quietHours[0].timeZone: "../etc/passwd" must be`,
		`from: "22:00", to: "06:00", namespaces: ["team a"]`:   `quietHours[0].namespaces[0]: "team a" must be`,
		`from: "22:00", to: "06:00", until: "2026-12-24"`:      `unknown field "quietHours[0].until"`,
		`from: "22:00", to: "06:00", timeZone: Europe/Berlin2`: `"Europe/Berlin2" must be`,
	} {
		refused(t, "quietHours: [{"+document+"}]", want)
	}
}

func TestStopSaysByWhomAndWhy(t *testing.T) {
	for document, want := range map[string]string{
		"stop: {by: jane, reason: incident 4711}":  "Stopped by jane: incident 4711 (operator configuration).",
		"stop: {by: jane}":                         "Stopped by jane (operator configuration).",
		"stop: {reason: ' The network is slow. '}": "Stopped: The network is slow (operator configuration).",
		"stop: {}": "Stopped (operator configuration).",
		"stop: {namespaces: ['team-*'], by: \"a\\nb\\u202e\"}": "Stopped by ab (operator configuration).",
		"stop: {namespaces: [shop]}":                           "",
		"stop: null":                                           "",
	} {
		hold := rulesOf(t, document).Hold(now)
		switch {
		case want == "" && hold != nil:
			t.Errorf("%s: got %+v, want none", document, hold)
		case want != "" && (hold == nil || hold.Cause != policy.Stopped || !hold.Ends() || hold.Why != want):
			t.Errorf("%s: got %+v, want %s", document, hold, want)
		}
	}
}

func TestSwitchIsBesideTheConfiguration(t *testing.T) {
	p, err := policy.Next(nil, map[string]string{
		"config.yaml": "target: {}", "stop.yaml": "{stops: [{namespaces: [shop], by: joe}, {namespaces: [team-a, team-b], by: jane}]}",
	})
	if err == nil {
		t.Fatal("an invalid configuration is taken")
	}
	for namespace, want := range map[string]policy.Cause{"shop": policy.Stopped, "team-a": policy.Stopped, "team-b": policy.Stopped, "other": policy.Invalid} {
		rules := p.For(namespace)
		if hold := rules.Hold(now); hold == nil || hold.Cause != want || rules.Valid() {
			t.Errorf("namespace %s: got %+v, want cause %d of rules that are not valid", namespace, hold, want)
		}
	}
	// One that becomes invalid does not undo the stop.
	if p, err = policy.Next(p, map[string]string{"stop.yaml": "{stops: jane}"}); err == nil || p.For("shop").Hold(now) == nil {
		t.Errorf("%v: the stop is undone", err)
	}
	if p, err = policy.Next(p, map[string]string{"stop.yaml": "stops: []"}); err != nil || p.For("shop").Hold(now) != nil {
		t.Errorf("%v: the stop is not lifted", err)
	}
	if rules := rulesOf(t, "stop: {}\nquietHours: [{from: '00:00', to: '24:00'}]").Free(); rules.Hold(now) != nil {
		t.Error("rules without what holds runs hold them")
	}
}
