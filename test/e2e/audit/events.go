package audit

import (
	"encoding/json"
	"fmt"
	"io"
)

// event is of a stored event what the audit looks at. Each event that the load
// tests append has an id of its own in its data.
type event struct {
	Position int64 `json:"position"`
	Data     struct {
		ID string `json:"id"`
	} `json:"data"`
}

// Events reads an array of events and returns how many there are. They must be in
// order, their positions dense from first to last, and no id may come twice: an
// event is stored once. last is the log's own word for where it ends, when it was
// read, so that one that says less than it holds, or more, is found out.
func Events(r io.Reader, first, last int64) (n int64, err error) {
	decoder := json.NewDecoder(r)
	if _, err := decoder.Token(); err != nil {
		return 0, fmt.Errorf("read events: %w", err)
	}
	seen := map[string]int64{}
	for ; decoder.More(); n++ {
		var e event
		if err := decoder.Decode(&e); err != nil {
			return n, fmt.Errorf("read the event after position %d: %w", first+n-1, err)
		}
		if e.Position != first+n {
			return n, fmt.Errorf("an event has position %d where %d is due: positions are not dense", e.Position, first+n)
		}
		if e.Data.ID == "" {
			return n, fmt.Errorf("the event at position %d has no id: it is none of the load test's", e.Position)
		}
		if at, ok := seen[e.Data.ID]; ok {
			return n, fmt.Errorf("the event at position %d is stored again at %d", at, e.Position)
		}
		seen[e.Data.ID] = e.Position
	}
	if _, err := decoder.Token(); err != nil {
		return n, fmt.Errorf("the events end after position %d: %w", first+n-1, err)
	}
	if end := first + n - 1; end != last {
		return n, fmt.Errorf("the events end at position %d, the last position is %d", end, last)
	}
	return n, nil
}
