package replay_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// burst is a log with so many lines in the second at an instant, after a first line of another second.
func burst(at time.Duration, n int) string {
	var text strings.Builder
	text.WriteString(line(0, "GET", "/first"))
	for i := range n {
		text.WriteString(line(at+time.Duration(i)*time.Second/time.Duration(n), "GET", fmt.Sprintf("/%d", i)))
	}
	return text.String()
}

// The rate is that of all workers: each refuses a log that has too much in a second, whatever its share is.
func TestASecondOfTheWholeLogMayNotPassTheRate(t *testing.T) {
	const rate, workers = 200, 20
	late := burst(4*time.Second, rate) + line(59*time.Second, "GET", "/later") + line(4500*time.Millisecond, "GET", "/late")
	for name, tt := range map[string]struct {
		text    string
		refused bool
	}{
		"as many as the rate":                    {text: burst(4*time.Second, rate)},
		"one more":                               {text: burst(4*time.Second, rate+1), refused: true},
		"one more, which came behind later ones": {text: late, refused: true},
		"one more, of which one is not sent":     {text: burst(4*time.Second, rate) + line(4500*time.Millisecond, "POST", "/")},
		"as many in two seconds that touch":      {text: burst(4*time.Second, rate) + strings.TrimPrefix(burst(5*time.Second, rate), line(0, "GET", "/first"))},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, tt.text)
			for worker := range int32(workers) {
				c := config(path, time.Minute)
				c.Worker, c.Workers, c.MaxRate = worker, workers, rate*1_000_000
				l, err := replay.New(c)
				must.Succeed(t, err)
				err = l.Read(t.Context(), nil, func(_, _ int64) {})
				switch {
				case tt.refused && (err == nil || !strings.Contains(err.Error(), "the log has a second, 4s after the beginning of the step, in which more requests are due than spec.replay.maxRate permits")):
					t.Fatalf("worker %d: error %v", worker, err)
				case !tt.refused && err != nil:
					t.Fatalf("worker %d: %v", worker, err)
				}
			}
		})
	}
}

// A worker counts its own lines alone, although it has looked at all: the sum over workers is the log.
func TestLinesOfOtherWorkersAreNotCounted(t *testing.T) {
	const workers = 3
	path := file(t, burst(time.Second, 50)+strings.Repeat("no request\n", 50)+strings.Repeat(line(2*time.Second, "POST", "/"), 50))
	lines, notParsed, otherMethods := int64(0), int64(0), int64(0)
	for worker := range int32(workers) {
		c := config(path, time.Minute)
		c.Worker, c.Workers, c.MaxRate = worker, workers, 1000*1_000_000
		_, survey := surveyed(t, c)
		lines, notParsed, otherMethods = lines+survey.Lines.Lines, notParsed+survey.Lines.NotParsed, otherMethods+survey.Lines.OtherMethods
	}
	if lines != 151 || notParsed != 50 || otherMethods != 50 {
		t.Errorf("%d lines, %d no request, %d of other methods; want 151, 50 and 50", lines, notParsed, otherMethods)
	}
}

// What a worker sends is what it has surveyed, though a line of the log may be of two formats, and the lines of other
// workers before it, which the survey alone reads, of either.
func TestALogOfSeveralFormatsIsSentAsItWasSurveyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		for i := range 600 {
			at := noon.Add(time.Duration(i) * 100 * time.Millisecond)
			if i%3 > 0 {
				fmt.Fprintf(&text, "{\"start_time\":%q,", at.Format(time.RFC3339Nano))
				at = at.Add(3 * time.Second) // when the line was collected
			} else {
				text.WriteByte('{')
			}
			fmt.Fprintf(&text, "\"@timestamp\":%q,\"method\":\"GET\",\"path\":\"/\",\"status\":200,\"response_code\":200}\n", at.Format(time.RFC3339Nano))
		}
		c := config(file(t, text.String()), time.Minute)
		c.Start, c.Workers, c.MaxRate = noon, 3, 1000*1_000_000
		l, survey := surveyed(t, c)
		same.As(t, "requests that are sent", survey.Due(), int64(len(stream(t, l))))
	})
}

// A log that is written again after its survey sends no more in a second than was surveyed.
func TestALogThatIsChangedSendsNoMoreThanWasSurveyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 600
		var even strings.Builder
		for i := range n {
			even.WriteString(line(time.Duration(i)*100*time.Millisecond, "GET", "/"))
		}
		path := file(t, even.String())
		c := config(path, time.Minute)
		c.MaxRate = 10 * 1_000_000
		l, _ := surveyed(t, c)
		must.Succeed(t, os.WriteFile(path, []byte(strings.Repeat(line(0, "GET", "/"), n)), 0o600))
		s := l.Stream()
		sent := 0
		for {
			ok, ended := s.Take(&replay.Request{})
			if ended {
				break
			}
			if ok {
				sent++
				continue
			}
			<-time.After(time.Millisecond) // until the reader waits
		}
		err := s.Close()
		if sent > 10 || err == nil || !strings.Contains(err.Error(), "the log was changed after it was surveyed") {
			t.Errorf("%d are sent in the first second, want at most 10; error %v", sent, err)
		}
	})
}
