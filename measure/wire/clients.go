package wire

import (
	"errors"
	"fmt"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// toClients reads the ledgers; together they cannot account for more requests
// than were sent.
func toClients(clients map[string]*workerv1.Ledger, sent int64) (map[string]*measure.Ledger, error) {
	if len(clients) == 0 {
		return nil, nil
	}
	if len(clients) > measure.MaxClients {
		return nil, fmt.Errorf("clients: %d, more than %d", len(clients), measure.MaxClients)
	}
	var accounted int64
	ledgers := make(map[string]*measure.Ledger, len(clients))
	for name, m := range clients {
		if len(name) > measure.MaxClientBytes {
			return nil, fmt.Errorf("clients: a name of %d bytes, more than %d", len(name), measure.MaxClientBytes)
		}
		ledger, n, err := toLedger(m, sent-accounted)
		if err != nil {
			return nil, fmt.Errorf("clients[%q].%w", name, err)
		}
		accounted += n
		ledgers[name] = ledger
	}
	return ledgers, nil
}

// toLedger also says how many requests the ledger accounts for, at most left.
func toLedger(m *workerv1.Ledger, left int64) (*measure.Ledger, int64, error) {
	if len(m.GetSlices()) > maxSlices {
		return nil, 0, fmt.Errorf("slices: %d, more than %d", len(m.GetSlices()), maxSlices)
	}
	ledger := measure.NewLedger()
	var accounted int64
	for i, s := range m.GetSlices() {
		if i < 0 || i >= maxSlices {
			return nil, 0, fmt.Errorf("slices: index %d is not in 0..%d", i, maxSlices-1)
		}
		n, err := checkSlice(s, left-accounted)
		if err != nil {
			return nil, 0, fmt.Errorf("slices[%d].%w", i, err)
		}
		accounted += n
		ledger.Slices[int(i)] = measure.Slice{
			Granted:      s.GetGranted(),
			Denied:       s.GetDenied(),
			Unknown:      s.GetUnknown(),
			FirstSent:    time.Duration(s.GetFirstSentNanos()),
			LastReceived: time.Duration(s.GetLastReceivedNanos()),
		}
	}
	return ledger, accounted, nil
}

func checkSlice(s *workerv1.LedgerSlice, left int64) (accounted int64, err error) {
	for _, part := range []struct {
		field string
		n     int64
	}{{"granted", s.GetGranted()}, {"denied", s.GetDenied()}, {"unknown", s.GetUnknown()}} {
		if err := within(part.field, part.n, "what was sent and is not in another slice", left-accounted); err != nil {
			return 0, err
		}
		accounted += part.n
	}
	return accounted, errors.Join(
		span("first_sent_nanos", s.GetFirstSentNanos()),
		span("last_received_nanos", s.GetLastReceivedNanos()),
		atLeast("last_received_nanos", s.GetLastReceivedNanos(), s.GetFirstSentNanos()),
	)
}
