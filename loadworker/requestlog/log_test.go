package requestlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/loadtest-dev/loadtest-operator/loadworker/requestlog"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var start = time.Unix(1_700_000_000, 0)

// record is the n-th request of a step, sent at millisecond n.
func record(step int32, n int) requestlog.Record {
	return requestlog.Record{
		Step: step, Sent: start.Add(time.Duration(n) * time.Millisecond), Latency: time.Duration(n) * time.Microsecond,
		Code: 200, BytesIn: 2, BytesOut: 3, Method: "GET", Path: []byte(fmt.Sprintf("/%d", n)),
	}
}

// logged is the file of a worker that recorded requests.
func logged(t *testing.T, records ...requestlog.Record) *bytes.Buffer {
	t.Helper()
	var file bytes.Buffer
	log := requestlog.New(&file)
	for _, r := range records {
		log.Add(r)
	}
	must.Succeed(t, log.Close())
	return &file
}

// decoded are the results in an encoding of vegeta, as its own decoders read them.
func decoded(t *testing.T, in io.Reader) []vegeta.Result {
	t.Helper()
	decoder := vegeta.DecoderFor(in)
	if decoder == nil {
		t.Fatal("vegeta does not know the encoding")
	}
	var all []vegeta.Result
	for {
		var r vegeta.Result
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

// Each step is an attack, whose results are numbered in the order in which they were
// sent, whichever worker sent them.
func TestResultsAreThoseOfAllWorkersInOrder(t *testing.T) {
	failed := record(1, 5)
	failed.Code, failed.Error, failed.Path = 0, "read: timeout", []byte("/failed")
	steps := []requestlog.Step{
		{Index: 1, Name: "one", URL: "http://a", Sent: 4, Start: start}, {Index: 3, Name: "two", URL: "http://a", Sent: 2, Start: start},
	}
	for _, encoding := range requestlog.Encodings {
		first := logged(t, record(0, 9), record(1, 3), record(1, 1), record(3, 7))
		second := logged(t, record(1, 2), failed, record(2, 9), record(3, 6))
		var out bytes.Buffer
		missing, err := requestlog.Write(&out, encoding, steps, first, second)
		if err != nil || missing != 0 {
			t.Fatalf("%s: %d missing, %v", encoding, missing, err)
		}
		var got []string
		for _, r := range decoded(t, &out) {
			got = append(got, fmt.Sprintf("%s %d %s %s %d %v %v %d %d %q", r.Attack, r.Seq, r.Method, r.URL, r.Code, r.Timestamp.Sub(start), r.Latency, r.BytesIn, r.BytesOut, r.Error))
		}
		want := []string{
			`one 0 GET http://a/1 200 1ms 1µs 2 3 ""`, `one 1 GET http://a/2 200 2ms 2µs 2 3 ""`, `one 2 GET http://a/3 200 3ms 3µs 2 3 ""`,
			`one 3 GET http://a/failed 0 5ms 5µs 2 3 "read: timeout"`,
			`two 0 GET http://a/6 200 6ms 6µs 2 3 ""`, `two 1 GET http://a/7 200 7ms 7µs 2 3 ""`,
		}
		same.As(t, encoding, want, got)
	}
}

// A worker that was killed leaves a file that ends anywhere.
func TestMissingRequestsAreSaid(t *testing.T) {
	whole := logged(t, record(0, 1), record(0, 2), record(0, 3)).Bytes()
	for cut := range whole {
		var out bytes.Buffer
		steps := []requestlog.Step{{Name: "one", Sent: 3, Start: start}}
		missing, err := requestlog.Write(&out, "json", steps, bytes.NewReader(whole[:cut]))
		if err != nil || missing < 1 || missing > 3 {
			t.Fatalf("%d bytes: %d missing, %v", cut, missing, err)
		}
		all := decoded(t, &out)
		last := all[len(all)-1]
		want := fmt.Sprintf("%d of 3 requests are missing in these results: they were counted but not recorded", missing)
		if int64(len(all)) != 3-missing+1 || last.Error != want || last.Code != 0 {
			t.Errorf("%d bytes: %d results, the last with error %q, want %q", cut, len(all), last.Error, want)
		}
	}
}

// stuck is a disk that writes nothing until it is released.
type stuck struct {
	released chan struct{}
	to       bytes.Buffer
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.released
	return s.to.Write(b)
}

func TestNothingWaitsForTheDisk(t *testing.T) {
	disk := &stuck{released: make(chan struct{})}
	log := requestlog.New(disk)
	const sent = 400_000
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for n := range sent / 4 {
				log.Add(record(0, n))
			}
		})
	}
	group.Wait() // though nothing was written
	close(disk.released)
	must.Succeed(t, log.Close())
	log.Add(record(0, 1)) // after the end
	var out bytes.Buffer
	missing, err := requestlog.Write(&out, "csv", []requestlog.Step{{Name: "one", Sent: sent, Start: start}}, &disk.to)
	if err != nil || missing == 0 || missing == sent {
		t.Errorf("%d missing of %d, %v; want some", missing, sent, err)
	}
	if n := int64(strings.Count(out.String(), "\n")); n != sent-missing+1 {
		t.Errorf("%d results, want %d and one that says what is missing", n, sent-missing)
	}
}

func TestADiskThatIsFullIsAnError(t *testing.T) {
	reader, writer := io.Pipe()
	_ = reader.CloseWithError(io.ErrShortWrite)
	log := requestlog.New(writer)
	log.Add(record(0, 1))
	if err := log.Close(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
}

func TestToRecordAllocatesNothing(t *testing.T) {
	log := requestlog.New(io.Discard)
	r := record(0, 1)
	if n := testing.AllocsPerRun(10_000, func() { log.Add(r) }); n > 0 {
		t.Errorf("%v allocations for each record, want none", n)
	}
	must.Succeed(t, log.Close())
}
