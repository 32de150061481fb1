package groundtruth

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// parsed is the stream of a text.
func parsed(t *testing.T, text string) *Stream {
	t.Helper()
	reply, err := ParseReply(text)
	must.Succeed(t, err)
	return reply.Stream
}

// stepsOf are the first steps of a stream in words, 20 at most.
func stepsOf(s *Stream) (all []string) {
	for play := s.play(1, 1); len(all) < 20; {
		next := play.next()
		text := fmt.Sprintf("%v %q", next.at, next.bytes)
		if next.event {
			text += " event"
		}
		if next.stalls {
			text += " stalls"
		}
		if next.end {
			return append(all, text+" end")
		}
		all = append(all, text)
	}
	return all
}

func TestStepsOfAStream(t *testing.T) {
	const done = `"data: [DONE]\n\n"`
	const chunk = `{\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"text\":\" a\",\"logprobs\":null,\"finish_reason\":null}]}`
	tests := map[string][]string{
		"stream:2:200ms:20ms": {
			`200ms "data: {\"n\":1}\n\n" event`, `220ms "data: {\"n\":2}\n\n" event`, `220ms ` + done, `220ms "" end`,
		},
		"stream:0:5s:1s": {`5s ` + done, `5s "" end`},
		"stream:2:0s:1s:format=lines": {
			`0s "{\"n\":1}\n" event`, `1s "{\"n\":2}\n" event`, `1s "{\"done\":true}\n"`, `1s "" end`,
		},
		"stream:1:0s:1s:format=lines:crlf": {`0s "{\"n\":1}\r\n" event`, `0s "{\"done\":true}\r\n"`, `0s "" end`},
		"stream:1:0s:1s:format=chunks":     {`0s "{\"n\":1}" event`, `0s "{\"done\":true}"`, `0s "" end`},
		"stream:2:0s:1s:format=grpc:large=2,3": {
			`0s "\x00\x00\x00\x00\x02\b\x01" event`, `1s "\x00\x00\x00\x00\a\b\x02z\x03xxx" event`, `1s ""`, `1s "" end`,
		},
		"stream:2:0s:1s:stall=1,10s": {
			`0s "data: {\"n\":1}\n\n" event stalls`, `11s "data: {\"n\":2}\n\n" event`, `11s ` + done, `11s "" end`,
		},
		"stream:1:0s:1s:stall=1,10s": {`0s "data: {\"n\":1}\n\n" event stalls`, `10s ` + done, `10s "" end`},
		"stream:5:0s:1s:reset=1":     {`0s "data: {\"n\":1}\n\n" event`, `1s "" end`},
		"stream:5:3s:1s:close=0":     {`3s "" end`},
		"stream:5:3s:1s:close=0:bom": {`3s "\ufeff" end`},
		"stream:1:3s:1s:close=1":     {`3s "data: {\"n\":1}\n\n" event`, `4s "" end`},
		"stream:2:0s:1s:completion:crlf": {
			`0s "data: ` + chunk + `\r\n\r\n" event`, `1s "data: ` + chunk + `\r\n\r\n" event`, `1s "data: [DONE]\r\n\r\n"`, `1s "" end`,
		},
		"stream:1:0s:1s:unended": {`0s "data: {\"n\":1}\n\n" event`, `0s ""`, `0s "" end`},
		"stream:2:0s:1s:comments:crlf:bom": {
			`0s "\ufeffdata: {\"n\":1}\r\n\r\n" event`, `500ms ": ping\r\n\r\n"`, `1s "data: {\"n\":2}\r\n\r\n" event`, `1s "data: [DONE]\r\n\r\n"`, `1s "" end`,
		},
		"stream:1:0s:1s:cr":                {`0s "data: {\"n\":1}\r\r" event`, `0s "data: [DONE]\r\r"`, `0s "" end`},
		"stream:1:0s:1s:large=1,5":         {`0s "data: {\"n\":1,\"x\":\"xxxxx\"}\n\n" event`, `0s ` + done, `0s "" end`},
		"stream:1:0s:1s:invalid=1:unended": {`0s "data: {\"n\":1,\"x\":\"\xff\xc0\x80\"}\n\n" event`, `0s ""`, `0s "" end`},
		"stream:1:1s:1s:format=chunks:pieces=1ms:unended": {
			`1s "{"`, `1.001s "\""`, `1.002s "n"`, `1.003s "\""`, `1.004s ":"`, `1.005s "1"`, `1.006s "}" event`, `1s ""`, `1s "" end`,
		},
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			same.As(t, "steps", want, stepsOf(parsed(t, text)))
		})
	}
}

// The test knows the schedule: it is that of the steps, and depends on the seed and on the
// number of the request.
func TestScheduleOfAStream(t *testing.T) {
	for _, text := range []string{
		"stream:50:200ms:20ms:5ms", "stream:50:0s:0s:1ms:stall=7,1s", "stream:50:1s:1s:1s:reset=3", "stream:50:1s:1s:close=0",
		"stream:endless:1s:10ms:10ms:comments", "stream:50:1s:1s:1s:close=50",
	} {
		t.Run(text, func(t *testing.T) {
			s := parsed(t, text)
			var previous []time.Duration
			for number := int64(-1); number < 20; number++ {
				var steps, due []time.Duration
				for play := s.play(7, number); len(steps) < 60; {
					next := play.next()
					if next.event {
						steps = append(steps, next.at)
					}
					if next.end {
						break
					}
				}
				for at := range s.Due(7, number) {
					if due = append(due, at); len(due) == 60 {
						break
					}
				}
				if diff := cmp.Diff(due, steps); diff != "" {
					t.Fatalf("events of request %d (-due +steps):\n%s", number, diff)
				}
				if s.Jitter > 0 && slices.Equal(due, previous) {
					t.Errorf("the events of request %d are due as those of the one before", number)
				}
				for i := 1; i < len(due); i++ {
					if gap := due[i] - due[i-1] - s.stall(i); gap < s.Every || gap > s.Every+s.Jitter {
						t.Errorf("event %d of request %d is due %v after the one before", i+1, number, gap)
					}
				}
				previous = due
			}
		})
	}
}

func TestRecordOfAStream(t *testing.T) {
	var r Record
	for _, at := range []int64{100, 130, 170, 180} {
		r.enter(at, 3)
	}
	want := Record{First: 100, Last: 180, Events: 4, Gap: 40, Times: []int64{100, 130, 170}}
	same.As(t, "record", want, r)
}
