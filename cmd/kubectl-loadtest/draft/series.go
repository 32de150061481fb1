package draft

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/accesslog"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// MaxSeries is the largest file of a series, in bytes.
	MaxSeries = 64 << 20
	// maxPoints bounds a series: a day by the second.
	maxPoints = 100_000
)

// Series is a rate over time, of which a load is made.
type Series struct {
	times []time.Time
	rates []float64
}

var errColumns = errors.New("there must be two columns, the time and then the rate, such as 2026-11-28T10:00:00Z,120.5")

// ReadSeries reads a table of times and rates in CSV, with or without names of columns, or the
// JSON that Prometheus answers a range query with, and promtool query range -o json prints.
func ReadSeries(data []byte) (*Series, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	s, read := &Series{}, (*Series).readCSV
	if start := bytes.TrimSpace(data); bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("[")) {
		read = (*Series).readPrometheus
	}
	switch err := read(s, data); {
	case err != nil:
		return nil, err
	case len(s.times) < 2:
		return nil, fmt.Errorf("it has %s, and two at least are needed", text.Plural(int64(len(s.times)), "point"))
	}
	return s, nil
}

func (s *Series) readCSV(data []byte) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace, r.Comment, r.ReuseRecord = -1, true, true, '#', true
	r.Comma = separator(data)
	for isFirst := true; ; isFirst = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		if len(record) != 2 {
			return fmt.Errorf("line %d has %s: %w", line, text.Plural(int64(len(record)), "column"), errColumns)
		}
		if isFirst && isHeader(record) {
			continue
		}
		if err := s.add(strings.TrimSpace(record[0]), strings.TrimSpace(record[1])); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// separator is what stands between the columns of the first line that is no comment.
func separator(data []byte) rune {
	for line := range bytes.Lines(data) {
		switch {
		case bytes.HasPrefix(line, []byte("#")) || len(bytes.TrimSpace(line)) == 0:
			continue
		case bytes.ContainsRune(line, ';'):
			return ';'
		case bytes.ContainsRune(line, '\t'):
			return '\t'
		}
		return ','
	}
	return ','
}

// isHeader says whether a line has names: neither is a time or a number.
func isHeader(record []string) bool {
	for _, value := range record {
		_, err := accesslog.ParseTime(strings.TrimSpace(value))
		if _, notNumber := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil || notNumber == nil {
			return false
		}
	}
	return true
}

// add adds a point behind the others.
func (s *Series) add(at, rate string) error {
	t, err := accesslog.ParseTime(at)
	if err != nil {
		return fmt.Errorf("%q: %w; %w", short(at), err, errColumns)
	}
	n, err := strconv.ParseFloat(rate, 64)
	switch {
	case err != nil || math.IsNaN(n) || n < 0:
		return fmt.Errorf("the rate %q is no number of 0 or more: %w", short(rate), errColumns)
	case n > maxRate:
		return fmt.Errorf("the rate %s is above %d: are the columns swapped? %w", short(rate), maxRate, errColumns)
	case len(s.times) == maxPoints:
		return fmt.Errorf("there are more than %d points: ask for the series with a longer step", maxPoints)
	case len(s.times) > 0 && !t.After(s.times[len(s.times)-1]):
		return fmt.Errorf("the time %s is not after the one before: sort the lines by time, and give one series only; %w", short(at), errColumns)
	}
	s.times, s.rates = append(s.times, t), append(s.rates, n)
	return nil
}

// promSeries is one of the series that Prometheus answers with.
type promSeries struct {
	Values [][2]any `json:"values"`
}

func (s *Series) readPrometheus(data []byte) error {
	var list []promSeries
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		if err := json.Unmarshal(data, &list); err != nil {
			return fmt.Errorf("it is not what promtool query range -o json prints: %w", err)
		}
	} else {
		var answer struct {
			Error string `json:"error"`
			Data  struct {
				Result []promSeries `json:"result"`
			} `json:"data"`
		}
		if err := json.Unmarshal(data, &answer); err != nil {
			return fmt.Errorf("it is not an answer of Prometheus to a range query (/api/v1/query_range): %w", err)
		}
		if answer.Error != "" {
			return fmt.Errorf("the answer of Prometheus is an error: %s", oneLine(short(answer.Error)))
		}
		list = answer.Data.Result
	}
	if len(list) != 1 {
		return fmt.Errorf("it has %d series, and one is needed: ask for a sum, such as sum(rate(http_requests_total[1m]))", len(list))
	}
	for i, v := range list[0].Values {
		at, isNumber := v[0].(float64)
		rate, isText := v[1].(string)
		if !isNumber || !isText {
			return fmt.Errorf("value %d is not [SECONDS, \"RATE\"]", i)
		}
		if err := s.add(strconv.FormatFloat(at, 'f', -1, 64), rate); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	return nil
}

// Follow makes the series the load of the draft.
func (d *Draft) Follow(s *Series, t Timing) error {
	var points []point
	var begin time.Time
	for i, at := range s.times {
		if !t.contains(at) {
			continue
		}
		if len(points) == 0 {
			begin = at
		}
		points = append(points, point{at: at.Sub(begin).Seconds(), rate: s.rates[i]})
	}
	if len(points) < 2 {
		return fmt.Errorf("--window has %s of the series, from %s to %s; two at least are needed",
			text.Plural(int64(len(points)), "point"), stamp(s.times[0]), stamp(s.times[len(s.times)-1]))
	}
	l, err := t.follow(points, 0, 0, "the series from "+stamp(begin)+" on")
	if err != nil {
		return err
	}
	d.load = l
	d.Source += " and a series of rates"
	return nil
}

// FromSeries is a draft of a load alone, whose request is to be changed.
func FromSeries() *Draft {
	return &Draft{Source: "a request for /", Requests: []Request{{Weight: 1, Path: "/", Remark: "To be changed: a series says how many requests come, not which."}}}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
