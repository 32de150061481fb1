// The race detector looks at the tests of this file, too: a log is read by one goroutine and taken by others.

package replay_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Several goroutines, as there are of event loops, take each request once, and each of them in order.
func TestPartsTakeEachRequestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, parts = 70_000, 3 // more than are read ahead
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "[%s] \"GET /%d HTTP/1.1\" 200\n", noon.Add(time.Duration(i/10)*time.Millisecond).Format("2006-01-02T15:04:05.000Z"), i)
		}
		l, _ := surveyed(t, config(file(t, text.String()), time.Minute))
		s := l.Stream()
		var group sync.WaitGroup
		var own [parts][]int64
		for part := range parts {
			group.Go(func() {
				for {
					var r replay.Request
					ok, ended := s.Take(&r)
					switch {
					case ended:
						return
					case !ok:
						<-time.After(time.Millisecond) // until the reader waits
					default:
						own[part] = append(own[part], r.Line)
					}
				}
			})
		}
		group.Wait()
		must.Succeed(t, s.Close())
		seen := make([]bool, n)
		for part := range parts {
			if !slices.IsSorted(own[part]) {
				t.Errorf("what part %d takes is not in order", part)
			}
			for _, line := range own[part] {
				if seen[line-1] {
					t.Fatalf("line %d was taken twice", line)
				}
				seen[line-1] = true
			}
		}
		if slices.Contains(seen, false) {
			t.Error("not all lines were taken")
		}
	})
}

func TestWhatIsAppendedAfterTheSurveyIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := file(t, line(0, "GET", "/a"))
		l, _ := surveyed(t, config(path, time.Minute))
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must.Succeed(t, err)
		_, err = f.WriteString(line(time.Second, "GET", "/b"))
		must.Succeed(t, err)
		must.Succeed(t, f.Close())
		if own := stream(t, l); len(own) != 1 {
			t.Errorf("%+v", own)
		}
	})
}

// The reader of a log that is not taken waits, and ends when it is closed.
func TestALogThatIsNotTakenIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := surveyed(t, config(file(t, strings.Repeat(line(0, "GET", "/"), 100_000)), time.Minute))
		must.Succeed(t, l.Stream().Close())
		l.Await(t.Context())
		s := l.Stream()
		if ok, _ := s.Take(&replay.Request{}); !ok {
			t.Error("the first request is not there")
		}
		must.Succeed(t, s.Close())
		l.Prime()
		l.Close()
		l.Prime() // does nothing
	})
}
