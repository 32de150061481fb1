package attack

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// recording is a log of requests /0, /1, … at some times, as Envoy writes it.
func recording(t *testing.T, times ...time.Duration) string {
	t.Helper()
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	var text strings.Builder
	for i, at := range times {
		fmt.Fprintf(&text, "{\"start_time\":%q,\"method\":\"GET\",\"path\":\"/%d\"}\n", noon.Add(at).Format("2006-01-02T15:04:05.000000000Z"), i)
	}
	path := filepath.Join(t.TempDir(), "access.log")
	must.Succeed(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path
}

// recordedStep is a worker's share of a step that sends a log, all of whose lines are the first of so
// many requests.
func recordedStep(t *testing.T, path string, speed int64, length time.Duration, worker, workers int32, requests int) StepShare {
	t.Helper()
	l, err := replay.New(replay.Config{
		File: path, Speed: speed * 1_000_000, Duration: length, Methods: []string{"GET", "HEAD"}, Worker: worker, Workers: workers, Requests: requests,
		Routes: []replay.Route{{Path: regexp.MustCompile("^/.*[02468]$"), Request: 0}, {Path: regexp.MustCompile(""), Request: requests - 1}},
	})
	must.Succeed(t, err)
	must.Succeed(t, l.Read(t.Context(), Marks(length), func(_, _ int64) {}))
	t.Cleanup(l.Close)
	step := StepShare{Share: all(0), Load: Recorded{Log: l, Duration: length}}
	must.Succeed(t, step.Check())
	return step
}

// pairs are requests that come two at a time, at instants that are not even.
func pairs(n int) (times []time.Duration) {
	for i := range n {
		times = append(times, time.Duration((i/2)*(i/2))*5*ms)
	}
	return times
}

// Each request comes in the very instant that the log says, divided by the speed.
func TestALogIsSentAtItsTimes(t *testing.T) {
	for _, speed := range []int64{1, 5} {
		t.Run(fmt.Sprintf("speed %d", speed), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				const n = 200
				times := pairs(n)
				length := times[n-1]/time.Duration(speed) + time.Second
				o := d.oracle(t, nil)
				step := recordedStep(t, recording(t, times...), speed, length, 0, 1, 1)
				r := d.runner(t, setup{url: o.URL, requests: []source.Request{get("/")}})
				r.Prepare(t.Context(), step)
				x := r.Start(step, time.Now().Add(time.Second))
				got := finish(t, x)
				wantUnsent(t, got, length, 0, map[string]int64{"success": n})
				o.isOnTime(t, n, func(seq int64) time.Time { return x.start.Add(times[seq] / time.Duration(speed)) })
				if q := total(t, got); got.Due != n || q.Late != 0 || q.Displaced != 0 || got.Lateness.Max() > 0 {
					t.Errorf("%d due, %d late, %d displaced, by %v at most", got.Due, q.Late, q.Displaced, got.Lateness.Max())
				}
				same.As(t, "lines", &measure.Replay{Lines: n}, got.Replay)
				due := int64(0)
				for i, p := range x.Series(got.Due).Points {
					if due += p.Due; p.Due != p.Sent {
						t.Errorf("point %d has %d due and %d sent", i, p.Due, p.Sent)
					}
				}
				if due != n {
					t.Errorf("the points have %d due", due)
				}
			})
		})
	}
}

// Two workers send each line once.
func TestWorkersShareALog(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		const n = 120
		times := pairs(n)
		path, o, start := recording(t, times...), d.oracle(t, nil), time.Now().Add(time.Second)
		var steps []*Execution
		for worker := range int32(2) {
			steps = append(steps, d.runner(t, setup{url: o.URL, worker: worker, requests: []source.Request{get("/"), get("/")}}).
				Start(recordedStep(t, path, 1, times[n-1]+time.Second, worker, 2, 2), start))
		}
		var sent [2]int64
		for _, x := range steps {
			got := finish(t, x)
			for i := range sent {
				sent[i] += got.Requests[i].Sent
			}
			if got.Due == 0 || got.Due == n || got.Unsent != 0 || got.Replay.ToSend() != got.Due {
				t.Errorf("a worker has %d due, %d unsent, and %+v", got.Due, got.Unsent, got.Replay)
			}
		}
		o.isOnTime(t, n, func(seq int64) time.Time { return start.Add(times[seq]) })
		same.As(t, "sent, by request", [2]int64{n / 2, n / 2}, sent)
	})
}

// What the target leaves no room for is due and unsent: neither is it dropped nor does the log stop.
func TestALogOfATargetThatStandsStillIsDue(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		var times []time.Duration
		for i := range 1000 {
			times = append(times, time.Duration(i)*ms)
		}
		o := d.oracle(t, func(http.ResponseWriter, *http.Request) { <-time.After(4 * time.Second) })
		step := recordedStep(t, recording(t, times...), 1, 2*time.Second, 0, 1, 1)
		got := drive(t, d.runner(t, setup{url: o.URL, maxConns: 10, timeout: 10 * time.Second, requests: []source.Request{get("/")}}), step)
		if q := total(t, got); got.Due != 1000 || q.Sent != 10 || got.Unsent != 990 || got.UnsentWithoutRoom < 980 {
			t.Errorf("%d due, %d sent, %d unsent, %d without room", got.Due, q.Sent, got.Unsent, got.UnsentWithoutRoom)
		}
	})
}

// A log that is truncated after it was surveyed leaves its requests unsent, by the generator.
func TestALogThatIsTruncatedIsTheGeneratorsFault(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		path := recording(t, 0, 100*ms, 200*ms, 300*ms)
		o := d.oracle(t, nil)
		step := recordedStep(t, path, 1, time.Second, 0, 1, 1)
		info, err := os.Stat(path)
		must.Succeed(t, err)
		must.Succeed(t, os.Truncate(path, info.Size()/2))
		got := drive(t, d.runner(t, setup{url: o.URL, requests: []source.Request{get("/")}}), step)
		if q := total(t, got); got.Due != 4 || q.Sent != 2 || got.Unsent != 2 || got.UnsentByGenerator != 2 {
			t.Errorf("%d due, %d sent, %d unsent, %d of them by the generator", got.Due, q.Sent, got.Unsent, got.UnsentByGenerator)
		}
	})
}

// A step that is cut has nothing due behind the cut.
func TestALogIsCut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, nil)
		step := recordedStep(t, recording(t, 0, time.Second, 3*time.Second), 1, 4*time.Second, 0, 1, 1)
		x := d.runner(t, setup{url: o.URL, requests: []source.Request{get("/")}}).Start(step, time.Now())
		<-time.After(2 * time.Second)
		x.Cut()
		if got := finish(t, x); got.Due != 2 || got.Unsent != 0 {
			t.Errorf("%d due, %d unsent", got.Due, got.Unsent)
		}
	})
}

// Method and path are of the line, headers and body of the request, which goes with no GET.
func TestALineTakesThePlaceOfMethodAndPath(t *testing.T) {
	s, err := source.New(source.Config{Requests: []source.Request{{
		Name: "all", Weight: 1, Method: "PUT", Path: "/mine/${seq}", Body: "body ${seq}", Headers: []source.Header{{Name: "A", Value: "${seq}"}},
	}}})
	must.Succeed(t, err)
	for method, body := range map[string]string{"GET": "", "HEAD": "", "POST": "body 7", "DELETE": "body 7"} {
		var b source.Buffer
		s.Render(&b, 0, source.Vars{Seq: 7, Method: method, Path: "/${user}?a"})
		got := fmt.Sprintf("%s %s %s=%s %s", b.Request.Method, b.Request.Path, b.Request.Headers[0].Name, b.Request.Headers[0].Value, b.Request.Body)
		if want := method + " /${user}?a A=7 " + body; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A log's lines of HEAD, which are sent by default, have responses without a body: none is expected of them.
func TestALineOfHEADHasNoBodyToCheck(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		path, text := filepath.Join(t.TempDir(), "access.log"), ""
		for i, method := range []string{"GET", "HEAD"} {
			text += fmt.Sprintf("{\"start_time\":\"2026-11-28T12:00:0%d.0Z\",\"method\":%q,\"path\":\"/\"}\n", i, method)
		}
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		o := d.oracle(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"ok":true}`) })
		r := get("/")
		r.Expect.JSON = []source.ExpectedValue{{Path: ".ok", Equals: "true"}}
		got := drive(t, d.runner(t, setup{url: o.URL, requests: []source.Request{r}}), recordedStep(t, path, 1, 2*time.Second, 0, 1, 1))
		if q := total(t, got); q.Sent != 2 || q.Outcomes[measure.Success] != 2 {
			t.Errorf("%d sent, %v, %v", q.Sent, outcomes(q), errorsOf(got))
		}
	})
}
