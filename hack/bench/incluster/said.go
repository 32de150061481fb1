package incluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Said is what a tool said of a test.
type Said struct {
	// Sent is how many requests it counted, and Failed how many of them it counts as failed.
	Sent, Failed int64
	// P99 are the 99th percentiles of response time that it reports: one, or one of each worker
	// where it has none of all.
	P99 []time.Duration
	// Words are its verdict, exit codes and warnings, a line each.
	Words []string
}

// k6Metrics are the metrics of a summary that matter here. Times are in milliseconds.
type k6Metrics struct {
	Requests struct {
		Values struct{ Count float64 }
	} `json:"http_reqs"`
	Failed struct {
		Values struct{ Passes float64 } // of a rate of failures these are the failures
	} `json:"http_req_failed"`
	Duration struct {
		Values struct {
			P99 float64 `json:"p(99)"`
		}
	} `json:"http_req_duration"`
	Dropped struct {
		Values struct{ Count float64 }
	} `json:"dropped_iterations"`
}

// fromK6 reads the log of a runner, whose script ends with its summary.
func fromK6(log string) (Said, error) {
	for line := range strings.Lines(log) {
		text, ok := strings.CutPrefix(line, "summary ")
		if !ok {
			continue
		}
		var m k6Metrics
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return Said{}, fmt.Errorf("summary of k6: %w", err)
		}
		s := Said{
			Sent: int64(m.Requests.Values.Count), Failed: int64(m.Failed.Values.Passes),
			P99: []time.Duration{milliseconds(m.Duration.Values.P99)},
		}
		if n := m.Dropped.Values.Count; n > 0 {
			s.Words = append(s.Words, fmt.Sprintf("dropped_iterations: %.0f", n))
		}
		return s, nil
	}
	return Said{}, errors.New("the log has no summary of k6")
}

// and adds what another worker said.
func (s Said) and(other Said) Said {
	return Said{
		Sent: s.Sent + other.Sent, Failed: s.Failed + other.Failed,
		P99: slices.Concat(s.P99, other.P99), Words: slices.Concat(s.Words, other.Words),
	}
}

var (
	// aggregated is the last line of Locust's table of requests: their number, and failures.
	aggregated = regexp.MustCompile(`(?m)^\s*Aggregated\s+(\d+)\s+(\d+)\(`)
	// warning is a line of Locust's log: time, host and level are left out.
	warning = regexp.MustCompile(`(?m)^\[[^\]]*\] [^/\s]*/(?:WARNING|ERROR)/(.*)$`)
	// aboutWorkers is a line about a worker that leaves, or about users that move to others.
	aboutWorkers = regexp.MustCompile(`(?mi)^\[[^\]]*\] [^/\s]*/INFO/(.*(?:missing|lost| quit|heartbeat|reconnect|reports received|sending spawn jobs).*)$`)
)

const (
	// maxWords bounds the lines of a kind that are quoted of a log.
	maxWords = 6
	// locustEnd is in the line after which workers leave because the test is over.
	locustEnd = "--run-time limit reached"
)

// fromLocust reads the log of a master.
func fromLocust(log string) (Said, error) {
	var s Said
	test, _, _ := strings.Cut(log, locustEnd)
	for _, m := range slices.Concat(warning.FindAllStringSubmatch(log, maxWords), aboutWorkers.FindAllStringSubmatch(test, maxWords)) {
		if word := strings.TrimSpace(m[1]); !slices.Contains(s.Words, word) {
			s.Words = append(s.Words, word)
		}
	}
	counts := aggregated.FindStringSubmatch(log)
	if counts == nil {
		return s, errors.New("the log has no statistics of Locust")
	}
	// Both are digits; a number that is too large for 64 bits is refused.
	var errs [2]error
	s.Sent, errs[0] = strconv.ParseInt(counts[1], 10, 64)
	s.Failed, errs[1] = strconv.ParseInt(counts[2], 10, 64)
	p99, err := locustP99(log)
	if err := errors.Join(errs[0], errs[1], err); err != nil {
		return s, fmt.Errorf("statistics of Locust: %w", err)
	}
	s.P99 = []time.Duration{p99}
	return s, nil
}

// locustP99 reads the table of percentiles, whose last line is of all requests. Its columns are
// those of the head, but for Type and Name, of which there is one word.
func locustP99(log string) (time.Duration, error) {
	_, table, found := strings.Cut(log, "Response time percentiles")
	if !found {
		return 0, errors.New("no table of percentiles")
	}
	column := -1
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 2 && fields[0] == "Type" && fields[1] == "Name":
			column = slices.Index(fields, "99%") - 1
		case column > 0 && len(fields) > column && fields[0] == "Aggregated":
			ms, err := strconv.ParseFloat(fields[column], 64)
			return milliseconds(ms), err
		}
	}
	return 0, errors.New("the table of percentiles has no 99% of all")
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// fromOurs reads the status of a LoadTest.
func fromOurs(lt *v1beta1.LoadTest) Said {
	var s Said
	for _, step := range lt.Status.Steps {
		if step.Result == nil {
			continue
		}
		s.Sent += step.Result.Sent
		s.Failed += step.Result.Failed
		if r := step.Result.ResponseTime; r != nil && r.P99 != nil {
			s.P99 = append(s.P99, r.P99.Duration)
		}
		if step.Result.Failed > 0 {
			// Numbers of requests alone: it always has a form as JSON.
			outcomes, _ := json.Marshal(step.Result.Outcomes)
			s.Words = append(s.Words, "outcomes: "+string(outcomes))
		}
		if n := step.Result.Unsent; n > 0 {
			s.Words = append(s.Words, fmt.Sprintf("unsent: %d", n))
		}
		if step.MissingAtMost != nil {
			s.Words = append(s.Words, fmt.Sprintf("missingAtMost: %d", *step.MissingAtMost))
		}
		if step.Message != "" {
			s.Words = append(s.Words, fmt.Sprintf("step %s: %s", step.Name, step.Message))
		}
	}
	s.Words = append(s.Words, fmt.Sprintf("verdict: %s (%s)", lt.Status.Verdict, lt.Status.Summary.Reason))
	for _, c := range lt.Status.Conditions {
		if c.Reason == lt.Status.Summary.Reason {
			s.Words = append(s.Words, fmt.Sprintf("%s: %s", c.Type, c.Message))
		}
	}
	if n := lt.Status.Workers.Lost; n > 0 {
		s.Words = append(s.Words, fmt.Sprintf("workers lost: %d", n))
	}
	return s
}
