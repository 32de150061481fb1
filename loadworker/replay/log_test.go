package replay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// line is one of Envoy's, whose times have milliseconds.
func line(after time.Duration, method, path string) string {
	return fmt.Sprintf("{\"start_time\":%q,\"method\":%q,\"path\":%q,\"response_code\":200}\n", noon.Add(after).Format("2006-01-02T15:04:05.000000000Z"), method, path)
}

func file(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "access.log")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// config replays a whole file, in one worker.
func config(path string, length time.Duration) replay.Config {
	return replay.Config{
		File: path, Speed: 1_000_000, Duration: length, Methods: []string{"GET", "HEAD"}, Workers: 1, Requests: 1,
		Routes: []replay.Route{{Path: regexp.MustCompile("")}},
	}
}

// surveyed is the log of a config, and its survey.
func surveyed(t testing.TB, c replay.Config, marks ...time.Duration) (*replay.Log, *replay.Survey) {
	t.Helper()
	l, err := replay.New(c)
	must.Succeed(t, err)
	must.Succeed(t, l.Read(t.Context(), append(marks, c.Duration), func(_, _ int64) {}))
	t.Cleanup(l.Close)
	return l, l.Survey()
}

// inBubble runs a test in a bubble, whose clock goes on when all goroutines wait.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// stream is all of what is sent of a log.
func stream(t testing.TB, l *replay.Log) (all []replay.Request) {
	t.Helper()
	s := l.Stream()
	for {
		var r replay.Request
		ok, ended := s.Take(&r)
		switch {
		case ended:
			must.Succeed(t, s.Close())
			return all
		case !ok:
			<-time.After(time.Millisecond) // until the reader waits
		default:
			all = append(all, r)
		}
	}
}

func TestWhatIsDueIsInTheWindowAtTheSpeed(t *testing.T) {
	text := line(0, "GET", "/a") + line(1500*time.Millisecond, "HEAD", "/b?c") + "\nno request\n" +
		line(time.Second, "GET", "/late") + line(2*time.Second, "POST", "/d") + line(3*time.Second, "GET", "/other") + line(10*time.Second, "GET", "/behind")
	for name, tt := range map[string]struct {
		change func(*replay.Config)
		want   []replay.Request
		lines  measure.Replay
	}{
		"as it was": {func(*replay.Config) {}, []replay.Request{
			{Method: "GET", Path: "/a", Line: 1}, {Due: time.Second, Method: "GET", Path: "/late", Line: 5},
			{Due: 1500 * time.Millisecond, Method: "HEAD", Path: "/b?c", Line: 2}, {Due: 3 * time.Second, Method: "GET", Path: "/other", Line: 7},
		}, measure.Replay{Lines: 7, NotParsed: 1, OtherMethods: 1, OutsideWindow: 1}},
		"at twice the speed": {func(c *replay.Config) { c.Speed = 2_000_000 }, []replay.Request{
			{Method: "GET", Path: "/a", Line: 1}, {Due: 500 * time.Millisecond, Method: "GET", Path: "/late", Line: 5},
			{Due: 750 * time.Millisecond, Method: "HEAD", Path: "/b?c", Line: 2}, {Due: 1500 * time.Millisecond, Method: "GET", Path: "/other", Line: 7},
		}, measure.Replay{Lines: 7, NotParsed: 1, OtherMethods: 1, OutsideWindow: 1}},
		"a third as fast, rounded down": {func(c *replay.Config) { c.Speed = 333_333 }, []replay.Request{
			{Method: "GET", Path: "/a", Line: 1}, {Due: 3_000_003_000, Method: "GET", Path: "/late", Line: 5},
		}, measure.Replay{Lines: 7, NotParsed: 1, OutsideWindow: 4}},
		"from an instant": {func(c *replay.Config) { c.Start = noon.Add(time.Second) }, []replay.Request{
			{Method: "GET", Path: "/late", Line: 5}, {Due: 500 * time.Millisecond, Method: "HEAD", Path: "/b?c", Line: 2},
			{Due: 2 * time.Second, Method: "GET", Path: "/other", Line: 7},
		}, measure.Replay{Lines: 7, NotParsed: 1, OtherMethods: 1, OutsideWindow: 2}},
		"by routes": {func(c *replay.Config) {
			c.Requests = 2
			c.Routes = []replay.Route{{Path: regexp.MustCompile("^/[ab]"), Request: 1}, {Path: regexp.MustCompile("^/b|other"), Request: 0}}
		}, []replay.Request{
			{Method: "GET", Path: "/a", Line: 1, Index: 1}, {Due: 1500 * time.Millisecond, Method: "HEAD", Path: "/b?c", Line: 2, Index: 1},
			{Due: 3 * time.Second, Method: "GET", Path: "/other", Line: 7},
		}, measure.Replay{Lines: 7, NotParsed: 1, OtherMethods: 1, NotRouted: 1, OutsideWindow: 1}},
		"to another path": {func(c *replay.Config) {
			c.Routes = []replay.Route{{Path: regexp.MustCompile("^/(a|b.*)$"), To: "/v2/$1/$1"}, {Path: regexp.MustCompile("^/late"), To: "late"}, {Path: regexp.MustCompile("late")}, {Path: regexp.MustCompile("other"), To: "#"}}
		}, []replay.Request{
			{Method: "GET", Path: "/v2/a/a", Line: 1}, {Due: 1500 * time.Millisecond, Method: "HEAD", Path: "/v2/b?c/b?c", Line: 2},
		}, measure.Replay{Lines: 7, NotParsed: 1, OtherMethods: 1, NotRouted: 2, OutsideWindow: 1}},
		"of a host that no line has": {func(c *replay.Config) {
			c.Requests = 2
			c.Routes = []replay.Route{{Path: regexp.MustCompile(""), Host: "shop", Request: 1}, {Path: regexp.MustCompile("a")}}
		}, []replay.Request{
			{Method: "GET", Path: "/a", Line: 1}, {Due: time.Second, Method: "GET", Path: "/late", Line: 5},
		}, measure.Replay{Lines: 7, NotParsed: 1, OtherMethods: 1, NotRouted: 2, OutsideWindow: 1}},
		"other methods": {func(c *replay.Config) { c.Methods = []string{"POST"} }, []replay.Request{
			{Due: 2 * time.Second, Method: "POST", Path: "/d", Line: 6},
		}, measure.Replay{Lines: 7, NotParsed: 1, OtherMethods: 4, OutsideWindow: 1}},
	} {
		inBubble(t, name, func(t *testing.T) {
			c := config(file(t, text), 4*time.Second)
			tt.change(&c)
			l, survey := surveyed(t, c)
			same.As(t, "sent", tt.want, stream(t, l))
			tt.lines.Mistake = "line 4: " + `the line has no known format, such as: ADDRESS - USER [28/Nov/2026:10:00:00 +0000] "GET /path HTTP/1.1" 200 BYTES`
			same.As(t, "lines", tt.lines, survey.Lines)
			if n := survey.Lines.ToSend(); n != survey.Due() || n != int64(len(tt.want)) {
				t.Errorf("%d lines are to be sent, %d are due, want %d", n, survey.Due(), len(tt.want))
			}
			same.As(t, "sent again", tt.want, stream(t, l))
		})
	}
}

// The workers' shares are disjoint and complete, whatever their number, and about as large.
func TestWorkersDivideALog(t *testing.T) {
	var text strings.Builder
	const n = 3000
	for i := range n {
		text.WriteString(line(time.Duration(i)*time.Millisecond, []string{"GET", "POST"}[i%2], fmt.Sprintf("/%d", i)))
	}
	path := file(t, text.String())
	for _, workers := range []int32{1, 2, 3, 7} {
		inBubble(t, fmt.Sprintf("between %d", workers), func(t *testing.T) { divide(t, path, n, workers) })
	}
}

func divide(t *testing.T, path string, n int, workers int32) {
	t.Helper()
	seen := map[string]int{}
	for worker := range workers {
		c := config(path, time.Duration(n)*time.Millisecond)
		c.Worker, c.Workers = worker, workers
		l, survey := surveyed(t, c)
		own := stream(t, l)
		for _, r := range own {
			seen[fmt.Sprintf("%s at %v", r.Path, r.Due)]++
		}
		if mean := float64(n) / 2 / float64(workers); float64(survey.Due()) < mean*0.8 || float64(survey.Due()) > mean*1.2 || survey.Due() != int64(len(own)) {
			t.Errorf("worker %d of %d has %d due and sends %d, want about %.0f", worker, workers, survey.Due(), len(own), mean)
		}
	}
	for i := 0; i < n; i += 2 {
		if at := fmt.Sprintf("/%d at %v", i, time.Duration(i)*time.Millisecond); seen[at] != 1 {
			t.Fatalf("of %d workers, %d send %s", workers, seen[at], at)
		}
	}
	if len(seen) != n/2 {
		t.Errorf("%d workers send %d requests, want %d", workers, len(seen), n/2)
	}
}

// What is less out of order than the bound is sorted; what is more is counted and not sent.
func TestLinesOutOfOrderAreSortedUpToABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 40_000 // more than are kept
		var text strings.Builder
		for i := range n {
			text.WriteString(line(time.Second+time.Duration(i)*time.Millisecond, "GET", fmt.Sprintf("/%d", i)))
			if i == 10 {
				text.WriteString(line(1001*time.Millisecond, "GET", "/soon"))
			}
			if i == n-1 {
				text.WriteString(line(1002*time.Millisecond, "GET", "/lost"))
			}
		}
		l, survey := surveyed(t, config(file(t, text.String()), time.Minute))
		own := stream(t, l)
		if len(own) != n+1 || survey.Due() != n+1 || survey.Lines.OutOfOrder != 1 || own[2].Path != "/soon" {
			t.Errorf("%d are sent, the third is %s; %+v", len(own), own[2].Path, survey.Lines)
		}
		if !slices.IsSortedFunc(own, func(a, b replay.Request) int { return int(a.Due - b.Due) }) {
			t.Error("they are not in the order of their times")
		}
	})
}

// Lines that are within the bound are sent in the order of their times, those of one instant in that of the
// log, however they lie.
func TestLinesAreSortedHoweverTheyLie(t *testing.T) {
	for name, at := range map[string]func(i int) int{
		"in order":          func(i int) int { return i },
		"at one instant":    func(int) int { return 7 },
		"backwards":         func(i int) int { return 5000 - i },
		"two proxies":       func(i int) int { return i/2 + i%2*500 },
		"one far ahead":     func(i int) int { return i%5000 + 9000*(1/(1+i)) },
		"scattered":         func(i int) int { return i*7919%5003 + i/10 },
		"scattered, coarse": func(i int) int { return i * 7919 % 5003 / 100 },
	} {
		inBubble(t, name, func(t *testing.T) {
			var text strings.Builder
			var want []replay.Request
			first := at(0)
			for i := range 5000 {
				first = min(first, at(i))
			}
			for i := range 5000 {
				path, due := fmt.Sprintf("/%d", i), time.Duration(at(i)-first)*time.Millisecond
				text.WriteString(line(due, "GET", path))
				want = append(want, replay.Request{Due: due, Method: "GET", Path: path, Line: int64(i + 1)})
			}
			slices.SortStableFunc(want, func(a, b replay.Request) int { return int(a.Due - b.Due) })
			l, _ := surveyed(t, config(file(t, text.String()), time.Minute))
			same.As(t, "sent", want, stream(t, l))
		})
	}
}

// The reader of a log uses the memory of its lines again.
func TestPathsOutliveTheirLines(t *testing.T) {
	formats := map[string]string{
		"combined": "10.0.0.1 - - [28/Nov/2026:12:00:%02d +0000] \"GET %s HTTP/1.1\" 200 12\n",
		"Envoy":    "[2026-11-28T12:00:%02d.000Z] \"GET %s HTTP/1.1\" 200 - 0 12 4 3 \"-\" \"agent\" \"id\" \"shop\" \"-\"\n",
		"JSON":     "{\"start_time\":\"2026-11-28T12:00:%02dZ\",\"method\":\"GET\",\"path\":%q,\"response_code\":200}\n",
	}
	for name, format := range formats {
		inBubble(t, name, func(t *testing.T) {
			const n = 3000
			var text strings.Builder
			var want []string
			for i := range n {
				path := fmt.Sprintf("/%d/%s", i, strings.Repeat("x", i%700))
				fmt.Fprintf(&text, format, i*60/n, path)
				want = append(want, path)
			}
			l, _ := surveyed(t, config(file(t, text.String()), time.Minute))
			var got []string
			for _, r := range stream(t, l) {
				got = append(got, r.Path)
			}
			same.As(t, "paths", want, got)
		})
	}
}

// Due counts are exact at the marks, and never go back.
func TestDueCountsAreExactAtTheMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		var times []time.Duration
		for range 2000 {
			times = append(times, time.Duration(random.IntN(10_000))*time.Millisecond)
		}
		slices.Sort(times)
		var text strings.Builder
		for i, at := range times {
			text.WriteString(line(at-times[0], "GET", []string{"/a", "/b"}[i%2]))
		}
		marks := []time.Duration{time.Second, 2500 * time.Millisecond, 9 * time.Second}
		c := config(file(t, text.String()), 10*time.Second)
		c.Requests, c.Routes = 2, []replay.Route{{Path: regexp.MustCompile("a"), Request: 0}, {Path: regexp.MustCompile("b"), Request: 1}}
		l, survey := surveyed(t, c, marks...)
		own := stream(t, l)
		for request := range 2 {
			for _, at := range append(marks, 0, 10*time.Second, time.Hour) {
				want := int64(0)
				for _, r := range own {
					if r.Index == request && r.Due < at {
						want++
					}
				}
				if got := survey.Before(request, at); got != want {
					t.Errorf("%d of request %d are due before %v, want %d", got, request, at, want)
				}
			}
			last := int64(0)
			for at := time.Duration(0); at < 11*time.Second; at += 7 * time.Millisecond {
				n := survey.Before(request, at)
				if n < last {
					t.Fatalf("%d are due before %v, and more before that", n, at)
				}
				last = n
			}
		}
	})
}

func TestALogThatCannotBeReplayedIsRefused(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(strings.Repeat(line(0, "GET", "/"), 1000)))
	must.Succeed(t, err)
	must.Succeed(t, z.Close())
	good := line(0, "GET", "/") + line(time.Second, "GET", "/")
	for name, tt := range map[string]struct {
		text   string
		change func(*replay.Config)
		want   string
	}{
		"no file":         {change: func(c *replay.Config) { c.File += ".old" }, want: "no such file"},
		"a folder":        {change: func(c *replay.Config) { c.File = filepath.Dir(c.File) }, want: "is not a file"},
		"nothing":         {want: "the log is empty"},
		"blank lines":     {text: "\n\n \n", want: "the log is empty"},
		"no request":      {text: "secret\nsecret\n", want: "no line of the log is a request: line 1: the line has no known format"},
		"bytes":           {text: string([]byte{0x7f, 'E', 'L', 'F', 0, 1, 2, '\n', 0xff, 0}), want: "no line of the log is a request: line 1"},
		"a line too long": {text: strings.Repeat("x", 1<<20), want: "no line of the log is a request: line 1: the line has more than 65536 bytes"},
		"half a file":     {text: packed.String()[:packed.Len()-9], want: "read the log: "},
		"no gzip":         {text: "\x1f\x8bx", want: "read the log: decompress: "},
		"no methods":      {text: line(0, "POST", "/"), want: "no request of the log is to be sent: of 1 lines, 0 are no request, 1 have another method than spec.replay.methods"},
		"another window": {text: good, change: func(c *replay.Config) { c.Start = noon.Add(time.Hour) },
			want: "2 are not in the window from 2026-11-28T13:00:00Z to 2026-11-28T13:01:00Z (spec.replay.start, and duration x speed)"},
		"too fast": {text: strings.Repeat(good, 20), change: func(c *replay.Config) { c.MaxRate = 10_000_000 },
			want: "the log has a second, 0s after the beginning of the step, in which more requests are due than spec.replay.maxRate permits"},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(file(t, tt.text), time.Minute)
			if tt.change != nil {
				tt.change(&c)
			}
			l, err := replay.New(c)
			must.Succeed(t, err)
			err = l.Read(t.Context(), []time.Duration{c.Duration}, func(_, _ int64) {})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want …%s…", err, tt.want)
			}
		})
	}
}

// A share that is empty by chance is no mistake of the log.
func TestAWorkerMayHaveNoLine(t *testing.T) {
	due := int64(0)
	for worker := range int32(64) {
		c := config(file(t, line(0, "GET", "/")), time.Minute)
		c.Worker, c.Workers = worker, 64
		_, survey := surveyed(t, c)
		due += survey.Due()
	}
	if due != 1 {
		t.Errorf("%d are due, want 1", due)
	}
}

func TestAReadThatIsEndedSaysSo(t *testing.T) {
	l, err := replay.New(config(file(t, line(0, "GET", "/")), time.Minute))
	must.Succeed(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Read(ctx, nil, func(_, _ int64) {}); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("error %v", err)
	}
}

// The memory of a log does not grow with its length: not with that of its paths, either.
func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("x", 8000)
		path := filepath.Join(t.TempDir(), "access.log")
		f, err := os.Create(path)
		must.Succeed(t, err)
		for i := range 5_000 { // 40 MB
			_, err := fmt.Fprintf(f, "10.0.0.1 - - [28/Nov/2026:12:00:%02d +0000] \"GET /%s HTTP/1.1\" 200 1\n", i/1000, long)
			must.Succeed(t, err)
		}
		must.Succeed(t, f.Close())
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		l, _ := surveyed(t, config(path, time.Minute))
		s := l.Stream()
		taken := 0
		for {
			ok, ended := s.Take(&replay.Request{})
			if ended {
				break
			}
			if !ok {
				<-time.After(time.Millisecond) // until the reader waits
				continue
			}
			if taken++; taken%500 == 0 {
				<-time.After(time.Millisecond) // what the reader has freed is not kept
				runtime.GC()
				runtime.ReadMemStats(&after)
				if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > replay.Memory/2 { // the other half is for what is freed
					t.Fatalf("%d bytes are kept after %d requests, Memory says %d", kept, taken, replay.Memory/2)
				}
			}
		}
		must.Succeed(t, s.Close())
		if taken != 5_000 {
			t.Errorf("%d were taken", taken)
		}
	})
}
