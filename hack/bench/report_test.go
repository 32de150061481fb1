package main

import (
	"cmp"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// sampled is a result of that many requests in a second.
func sampled(requests int64) sample {
	return sample{counters: groundtruth.Counters{Requests: requests + 1, First: 1, Last: 1 + int64(time.Second), PeakInFlight: 1}}
}

func TestLastLineHasTheMediansOfTheRounds(t *testing.T) {
	results := map[key][]sample{}
	for name, rate := range map[string]int64{ourUsers: 1000, ourRate: 600, "wrk": 1250, "vegeta": 400, "k6": 100, "hey": 1} {
		// The median of the rounds counts.
		results[key{name, overTCP}] = []sample{sampled(rate * 7), sampled(rate), sampled(rate / 2)}
	}
	together := map[pair][]float64{
		{ourUsers, "wrk", overTLS}: {1.2, 9, 1}, {ourUsers, "h2load", overHTTP2}: {1.33}, {our16, h2load16, overHTTP2}: {0.75},
		{ourUsers, "ghz", overGRPC}: {5.5}, {our16, ghz16, overGRPC}: {20}, {ourUsers, fastGHZ, overGRPC}: {3}, {our16, fastGHZ16, overGRPC}: {8},
	}
	memory := map[key][]sample{{"wrk", overTCP}: {sampled(1)}}
	for k, bytes := range map[key]int64{{ourUsers, overTCP}: 4301, {ourUsers, overTLS}: 9000, {ourUsers, overHTTP2}: 6144, {our100, overHTTP2}: 1024} {
		s := sampled(1)
		s.generator.PeakRSS = bytes
		memory[k] = []sample{s}
	}
	got := lastLine(results, memory, together)
	want := "bench-worker: users-vs-wrk=0.80 users-vs-vegeta=2.50 users-vs-k6=10.00 rate-vs-vegeta=1.50 rate-vs-wrk=0.48 kb-per-inflight=4.2 " +
		"tls-vs-wrk=1.20 kb-per-tls-connection=8.8 h2-vs-h2load-1=1.33 h2-vs-h2load-16=0.75 kb-per-h2-connection=6.0 kb-per-h2-stream=1.0 grpc-vs-ghz-1=5.50 grpc-vs-ghz-16=20.00 grpc-vs-ghz-no-templates-1=3.00 grpc-vs-ghz-no-templates-16=8.00"
	if got != want {
		t.Errorf("last line\n%s\nwant\n%s", got, want)
	}
}

func TestContendersWithoutAFullCoreAreDisturbed(t *testing.T) {
	cores := func(generator, server time.Duration) sample {
		s := sampled(1)
		s.generator.CPU, s.server.CPU = generator, server
		return s
	}
	full, half := time.Second, time.Second/2
	results := map[key][]sample{
		{"wrk", overTCP}:  {cores(full, half), cores(full, half), cores(half, half)},
		{"ab", overTCP}:   {cores(half, full)},
		{"k6", overTLS}:   {cores(half, half)},
		{"hey", overTCP}:  {cores(half, half), cores(half, half), cores(full, half)},
		{"fine", overTCP}: {cores(full, full)},
		{"just", overTCP}: {cores(850*time.Millisecond, half)},
		{"less", overTCP}: {cores(849*time.Millisecond, half)},
	}
	same.As(t, "disturbed", []string{"hey over TCP", "k6 over TLS", "less over TCP"}, disturbed(results))
}

func TestFlagsAreReadOrRefused(t *testing.T) {
	tests := map[string]struct {
		want options
		err  string
	}{
		"worker":                            {want: options{rounds: 3, users: 100_000}},
		"scale --users 10 --duration 2s":    {want: options{rounds: 3, users: 10, duration: 2 * time.Second}},
		"accuracy --rounds 1 --record":      {want: options{rounds: 1, users: 100_000, record: true}},
		"targets --rounds 5":                {want: options{rounds: 5, users: 100_000}},
		"operator --finished 9 --running 2": {want: options{rounds: 3, users: 100_000, finished: 9, running: 2}},
		"start --waiting 7":                 {want: options{rounds: 3, users: 100_000, waiting: 7}},
		"streams --streams 20":              {want: options{rounds: 3, users: 100_000, streams: 20}},
		"streams --streams 0":               {err: "--rounds, --users, --finished, --running, --waiting and --streams must be positive"},
		"start --waiting 0":                 {err: "--rounds, --users, --finished, --running, --waiting and --streams must be positive"},
		"operator --running 0":              {err: "--rounds, --users, --finished, --running, --waiting and --streams must be positive"},
		"":                                  {err: `"" is not worker, change, accuracy, scale, targets, replay, operator, start, shop, streams, tokens or peers`},
		"speed":                             {err: `"speed" is not worker, change, accuracy, scale, targets, replay, operator, start, shop, streams, tokens or peers`},
		"worker 5":                          {err: `unexpected argument "5"`},
		"scale --users 0":                   {err: "--rounds, --users, --finished, --running, --waiting and --streams must be positive"},
		"scale --users 1":                   {want: options{rounds: 3, users: 1}},
		"worker --rounds 0":                 {err: "--rounds, --users, --finished, --running, --waiting and --streams must be positive"},
		"worker --duration 1500ms":          {err: "--duration must be whole seconds"},
		"worker --duration -1s":             {err: "--duration must be whole seconds"},
		"worker --colour":                   {err: "flag provided but not defined"},
		"replay --speed 11":                 {err: "--speed must be 1 to 10"},
	}
	for line, tt := range tests {
		t.Run(line, func(t *testing.T) {
			want := tt.want
			want.finished, want.running, want.waiting = cmp.Or(want.finished, 1000), cmp.Or(want.running, 50), cmp.Or(want.waiting, 1000)
			want.streams = cmp.Or(want.streams, 1000)
			name, got, err := parse(strings.Fields(line), io.Discard)
			switch {
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("parse = %v, want an error that contains %s", err, tt.err)
			case tt.err == "" && (err != nil || got != want || name != strings.Fields(line)[0]):
				t.Errorf("parse = %s, %+v, %v; want %+v", name, got, err, want)
			}
		})
	}
}

// A record has all that its repetition needs.
func TestRecordSaysHowToRepeatIt(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 30, 0, 0, time.FixedZone("", 3600))
	got := header("worker", []string{"worker", "--record", "--rounds", "5"}, "abc", now)
	for _, want := range []string{
		"# bench-worker\n", "- Date: 2026-11-20 11:30 UTC\n", "- Commit: abc\n", " GiB, Linux ", "- Command: `make bench-worker ARGS='--rounds 5'`\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the header does not contain %q:\n%s", want, got)
		}
	}
	if got := header("scale", []string{"scale", "--record"}, "abc", now); !strings.Contains(got, "- Command: `make bench-scale`\n") {
		t.Errorf("a run without flags has the header:\n%s", got)
	}
}

// flown is a step in which all requests were answered.
func flown(edit func(*flight)) flight {
	f := flight{measured: measure.NewMeasurement(1), served: 100, open: 100}
	f.total.Response = measure.NewHistogram()
	f.measured.Due, f.total.Sent = 100, 100
	for range 100 {
		f.measured.Lateness.Record(time.Millisecond)
	}
	if edit != nil {
		edit(&f)
	}
	return f
}

func TestScaleIsConclusiveWhenAllWasDone(t *testing.T) {
	late := func(f *flight) {
		for range 100 {
			f.measured.Lateness.Record(time.Second)
		}
	}
	tests := map[string]struct {
		steps []flight
		want  string
	}{
		"all done":         {[]flight{flown(nil), flown(nil)}, "Conclusive"},
		"a burst has none": {[]flight{flown(late), flown(nil)}, "Conclusive"},
		"late":             {[]flight{flown(nil), flown(late)}, "Inconclusive: in step 2 requests were sent up to"},
		"unsent": {
			[]flight{flown(func(f *flight) { f.total.Sent, f.measured.Unsent = 60, 40 })},
			"Inconclusive: in step 1 this machine sent 60 of 100 requests",
		},
		"lost":            {[]flight{flown(func(f *flight) { f.served = 99 })}, "Inconclusive: in step 1 the servers got 99 of 100"},
		"few connections": {[]flight{flown(func(f *flight) { f.open = 99 })}, "Inconclusive: in step 1 there were connections for 99 of 100 users"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (&fleet{steps: tt.steps}).verdict(100); !strings.HasPrefix(got, tt.want) {
				t.Errorf("verdict %q, want %q", got, tt.want)
			}
		})
	}
}
