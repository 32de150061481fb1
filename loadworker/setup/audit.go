package setup

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Audit reads numbers that the target tells of itself.
type Audit struct {
	Config // its source has a request for each number
	// Values are the places of the numbers in the bodies of the responses.
	Values []source.JSONPath
}

// readEvery is the time between two readings of a number.
const readEvery = 500 * time.Millisecond

// Reading is what is known of one number.
type Reading struct {
	// Err is why the latest attempt did not read it; nil: it read Value.
	Err   error
	Value int64
	// Unchanged is for how long every attempt has read that value: from the end of the
	// first of them to the beginning of the latest.
	Unchanged time.Duration

	first time.Time
}

// Watch reads the numbers again and again until ctx ends, and calls tell with what is
// known of each after all were read.
func (a Audit) Watch(ctx context.Context, tell func([]Reading)) {
	ticks := time.NewTicker(readEvery)
	defer ticks.Stop()
	readings := make([]Reading, len(a.Values))
	for round := int64(0); ; round++ {
		a.readAll(ctx, round, readings)
		if ctx.Err() != nil {
			return
		}
		tell(readings)
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

// readAll reads each number once, over a connection of its own: one that was kept might
// have been closed by the target meanwhile.
func (a Audit) readAll(ctx context.Context, round int64, readings []Reading) {
	s := a.newSender()
	defer s.conn.Close()
	defer context.AfterFunc(ctx, s.conn.Interrupt)()
	for i := range readings {
		began := time.Now()
		value, err := a.read(ctx, s, i, round)
		readings[i] = readings[i].next(value, err, began, time.Now())
	}
}

// next is the reading after an attempt.
func (r Reading) next(value int64, err error, began, ended time.Time) Reading {
	switch {
	case err != nil:
		return Reading{Err: err}
	case r.first.IsZero() || r.Value != value:
		return Reading{Value: value, first: ended}
	}
	r.Unchanged = max(r.Unchanged, began.Sub(r.first))
	return r
}

// maxNumber is the largest number that every reader of JSON takes for what it is, and no
// difference of two of them overflows.
const maxNumber = 1 << 53

func (a Audit) read(ctx context.Context, s *sender, i int, round int64) (int64, error) {
	s.render(i, source.Vars{
		Seq: round*int64(a.Workers) + int64(a.Worker), Worker: a.Worker, Step: auditStep,
	})
	s.buffer.Request.Keep, s.buffer.Request.KeepMessage = keep, true
	response, err := s.send(ctx)
	if err != nil {
		return 0, a.errorf(i, err)
	}
	if status := measure.HTTPStatus(response.Status); status < http.StatusOK || status >= http.StatusMultipleChoices {
		return 0, a.errorf(i, said(fmt.Errorf("status %s", measure.StatusName(response.Status)), &response))
	}
	document, err := a.Source.Document(i, &response)
	if err != nil {
		return 0, a.errorf(i, err)
	}
	text, err := document.Find(a.Values[i])
	if err != nil {
		return 0, a.errorf(i, err)
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value > maxNumber || value < -maxNumber {
		return 0, a.errorf(i, failure.Withhold(text, "%s is a text of %d bytes, which is not a whole number of up to 15 digits", a.Values[i], len(text)))
	}
	return value, nil
}

func (a Audit) errorf(i int, err error) error {
	return fmt.Errorf("%s: %w", a.Source.Name(i), err)
}
