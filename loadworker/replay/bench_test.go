package replay_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What a line costs a worker before a step: it is read, parsed, sorted and counted.
func BenchmarkSurvey(b *testing.B) {
	const n = 100_000
	for name, format := range map[string]string{
		"combined": "10.0.0.1 - - [28/Nov/2026:12:00:%02d +0000] \"GET /items/%d?lang=en HTTP/1.1\" 200 12 \"-\" \"agent\"\n",
		"Envoy":    "[2026-11-28T12:00:%02d.123Z] \"GET /items/%d?lang=en HTTP/1.1\" 200 - 0 12 4 3 \"-\" \"agent\" \"id\" \"shop\" \"-\"\n",
		"JSON":     "{\"start_time\":\"2026-11-28T12:00:%02d.123Z\",\"method\":\"GET\",\"path\":\"/items/%d?lang=en\",\"response_code\":200}\n",
	} {
		b.Run(name, func(b *testing.B) {
			var text strings.Builder
			for i := range n {
				fmt.Fprintf(&text, format, i*60/n, i)
			}
			c := config(file(b, text.String()), time.Minute)
			b.ReportAllocs()
			for b.Loop() {
				l, err := replay.New(c)
				if err != nil || l.Read(b.Context(), []time.Duration{time.Minute}, func(_, _ int64) {}) != nil || l.Survey().Due() != n {
					b.Fatal(err, l.Survey())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/line")
		})
	}
}

// What a request costs a worker while it sends: it is read ahead, and taken.
func BenchmarkStream(b *testing.B) {
	const n = 100_000
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "[2026-11-28T12:00:%02d.123Z] \"GET /items/%d?lang=en HTTP/1.1\" 200 - 0 12 4 3 \"-\" \"agent\" \"id\" \"shop\" \"-\"\n", i*60/n, i)
	}
	l, err := replay.New(config(file(b, text.String()), time.Minute))
	if err == nil {
		err = l.Read(b.Context(), []time.Duration{time.Minute}, func(_, _ int64) {})
	}
	must.Succeed(b, err)
	b.ReportAllocs()
	for b.Loop() {
		s, got := l.Stream(), 0
		for {
			var r replay.Request
			ok, ended := s.Take(&r)
			if ended {
				break
			}
			if ok {
				got++
				continue
			}
			runtime.Gosched() // the reader fills a batch meanwhile
		}
		if err := s.Close(); err != nil || got != n {
			b.Fatal(got, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/request")
}
