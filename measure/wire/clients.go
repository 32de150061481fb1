package wire

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func fromClients(clients *measure.Clients) (*workerv1.Clients, error) {
	if clients == nil {
		return nil, nil
	}
	m := &workerv1.Clients{Names: clients.Names(), Below: clients.Below(), Untracked: clients.Untracked}
	for i, name := range m.Names {
		// A message with such a name could not be marshalled, which would end the
		// session instead of the step.
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("clients: names[%d] is not UTF-8", i)
		}
		ledger := clients.Ledger(name)
		m.Slices = append(m.Slices, int32(len(ledger.Slices)))
		for _, s := range ledger.Slices {
			m.Index = append(m.Index, int32(s.Index))
			m.Granted = append(m.Granted, s.Granted)
			m.Denied = append(m.Denied, s.Denied)
			m.Unknown = append(m.Unknown, s.Unknown)
			m.FirstSentNanos = append(m.FirstSentNanos, int64(s.FirstSent))
			m.LastReceivedNanos = append(m.LastReceivedNanos, int64(s.LastReceived))
		}
	}
	return m, nil
}

// ReadClients validates the ledgers of a worker's final measurement; nil: it has none.
// Together they cannot account for more requests than were sent.
func ReadClients(m *workerv1.StepMeasurement) (*measure.Clients, error) {
	if m.GetClients() == nil {
		return nil, nil
	}
	left := int64(0)
	for _, request := range m.GetRequests() {
		left += request.GetSent()
	}
	clients, err := readClients(m.GetClients(), left)
	if err != nil {
		return nil, fmt.Errorf("clients: %w", err)
	}
	return clients, nil
}

func readClients(m *workerv1.Clients, left int64) (*measure.Clients, error) {
	if len(m.GetSlices()) != len(m.GetNames()) {
		return nil, fmt.Errorf("slices: %d, there are %d names", len(m.GetSlices()), len(m.GetNames()))
	}
	all, err := readSlices(m)
	if err != nil {
		return nil, err
	}
	if err := within("untracked", m.GetUntracked(), "sent", left); err != nil {
		return nil, err
	}
	left -= m.GetUntracked()
	clients := measure.NewClients(measure.MaxLedgerBytes)
	clients.Lower(m.GetBelow())
	for i, name := range m.GetNames() {
		n := int(m.GetSlices()[i])
		switch {
		case len(name) > measure.MaxClientBytes:
			return nil, fmt.Errorf("names[%d]: %d bytes, more than %d", i, len(name), measure.MaxClientBytes)
		case clients.Ledger(name) != nil:
			return nil, fmt.Errorf("names[%d]: comes twice", i)
		case n < 0 || n > min(len(all), measure.MaxSlices):
			return nil, fmt.Errorf("slices[%d]: %d is not in 0..%d", i, n, min(len(all), measure.MaxSlices))
		}
		ledger := measure.Ledger{Slices: all[:n]}
		all = all[n:]
		if left, err = checkLedger(&ledger, left); err != nil {
			return nil, fmt.Errorf("the ledger of names[%d]: %w", i, err)
		}
		clients.Add(name, &ledger)
	}
	if len(all) > 0 {
		return nil, fmt.Errorf("slices: %d of them belong to no client", len(all))
	}
	// A worker keeps within its share: what was left out here would have been counted as
	// kept there.
	if clients.Len() != len(m.GetNames()) {
		return nil, fmt.Errorf("names: %d, of which %d are to have a ledger", len(m.GetNames()), clients.Len())
	}
	clients.Untracked = m.GetUntracked()
	return clients, nil
}

// readSlices are the slices of all clients, one after another.
func readSlices(m *workerv1.Clients) ([]measure.Slice, error) {
	all := make([]measure.Slice, len(m.GetIndex()))
	for field, n := range map[string]int{
		"granted": len(m.GetGranted()), "denied": len(m.GetDenied()), "unknown": len(m.GetUnknown()),
		"first_sent_nanos": len(m.GetFirstSentNanos()), "last_received_nanos": len(m.GetLastReceivedNanos()),
	} {
		if n != len(all) {
			return nil, fmt.Errorf("%s: %d, there are %d slices", field, n, len(all))
		}
	}
	for i := range all {
		all[i] = measure.Slice{
			Index:        int(m.GetIndex()[i]),
			Granted:      m.GetGranted()[i],
			Denied:       m.GetDenied()[i],
			Unknown:      m.GetUnknown()[i],
			FirstSent:    time.Duration(m.GetFirstSentNanos()[i]),
			LastReceived: time.Duration(m.GetLastReceivedNanos()[i]),
		}
	}
	return all, nil
}

// checkLedger returns how many requests are left for the ledgers that follow.
func checkLedger(ledger *measure.Ledger, left int64) (int64, error) {
	next := 0
	for _, s := range ledger.Slices {
		if s.Index < next || s.Index >= measure.MaxSlices {
			return 0, fmt.Errorf("index: %d is not in %d..%d", s.Index, next, measure.MaxSlices-1)
		}
		next = s.Index + 1
		for _, part := range []struct {
			field string
			n     int64
		}{{"granted", s.Granted}, {"denied", s.Denied}, {"unknown", s.Unknown}} {
			if err := within(part.field, part.n, "what was sent and is in no other slice", left); err != nil {
				return 0, err
			}
			left -= part.n
		}
		if err := errors.Join(
			span("first_sent_nanos", int64(s.FirstSent)),
			span("last_received_nanos", int64(s.LastReceived)),
			atLeast("last_received_nanos", int64(s.LastReceived), int64(s.FirstSent)),
		); err != nil {
			return 0, err
		}
	}
	return left, nil
}
