package eventstore

import (
	"context"
	"fmt"
	"time"
)

const (
	// PointTimeout bounds what concerns one event or one number.
	PointTimeout = 5 * time.Second
	// BulkTimeout bounds a batch, and each part of a read.
	BulkTimeout = 30 * time.Second
	// PartEvents and PartBytes bound a part of a reply: it is read at once, held in
	// memory, and sent while no reader is held.
	PartEvents = 1000
	PartBytes  = 256 << 10
)

// ReadPart gives the events of a range that exists to add until that says that the
// part is full, and returns their number. It releases the reader before they are
// sent.
func ReadPart(ctx context.Context, log Log, from, to int64, add func(Event) (full bool)) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, BulkTimeout)
	defer cancel()
	n := 0
	for e, err := range log.Events(ctx, from, to) {
		if err != nil {
			return n, err
		}
		if want := from + int64(n); e.Position != want {
			return n, fmt.Errorf("log has position %d where %d must be", e.Position, want)
		}
		n++
		if add(e) {
			break
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("log has nothing at position %d", from)
	}
	return n, nil
}
