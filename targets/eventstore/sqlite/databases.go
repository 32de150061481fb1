package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// DefaultMostOpen is how many logs of a folder are open at a time, so that large
// ones fit into a pod of 1 GiB. With 4 readers each takes 37 MB for pages (see
// Options.PageMemory) and, if every event has a key, up to 80 MB for its keys (see
// DefaultKeyWindow): 6 × 117 MB = 0.7 GB, of 0.97 GB that are 90 % of the pod's.
const DefaultMostOpen = 6

// Databases are the logs of a folder, each in a file of its own that is opened
// when it is asked for. When as many are open as may be, one is closed for it:
// see turns.go.
type Databases struct {
	dir     string
	options Options
	// most is how many may be open at a time.
	most int
	// openFile is Open, or a test's.
	openFile func(path string, o Options) (*Store, error)

	// ending is closed with the databases; turns are what opens and closes logs.
	ending chan struct{}
	turns  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	// logs are those that were ever asked for.
	logs map[string]*log
	// waiting are those to be opened, the first first.
	waiting []*log
	// held is how many are opening, open or closing, and closing how many of
	// them close.
	held, closing int
	// uses counts the requests to all logs.
	uses int64
}

// NewDatabases returns the logs of a folder and limits the number of open ones; 0
// is DefaultMostOpen.
func NewDatabases(dir string, o Options, most int) (*Databases, error) {
	_, err := o.withDefaults()
	if most < 0 {
		err = errors.Join(err, fmt.Errorf("%d logs may be open at a time: use 1 or more", most))
	}
	if err != nil {
		return nil, err
	}
	if most == 0 {
		most = DefaultMostOpen
	}
	return &Databases{dir: dir, options: o, most: most, openFile: Open, ending: make(chan struct{}), logs: map[string]*log{}}, nil
}

// Store is the log of that name, which must be the proper name of a file. When
// it is returned it has been opened; one that could not be is tried again when it
// is next asked for. That takes its time with a log of many idempotency keys, for
// which the others do not wait.
func (d *Databases) Store(ctx context.Context, name string) (eventstore.Store, error) {
	l := d.named(name)
	if _, err := l.use(ctx); err != nil {
		return nil, err
	}
	l.release()
	return l, nil
}

func (d *Databases) named(name string) *log {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, ok := d.logs[name]
	if !ok {
		l = &log{of: d, name: name}
		d.logs[name] = l
	}
	return l
}

// Waiting is how many requests wait for the writers of all logs.
func (d *Databases) Waiting() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := 0
	for _, l := range d.logs {
		if l.store != nil {
			sum += l.store.Waiting()
		}
	}
	return sum
}

// Open are the logs that are open.
func (d *Databases) Open() []eventstore.Store {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []eventstore.Store
	for _, l := range d.logs {
		if l.state == opened {
			list = append(list, l)
		}
	}
	return list
}

// Close closes every log, also those in use, and reports the logs whose WAL could
// not be checkpointed, now or when they were last closed.
func (d *Databases) Close() error {
	d.end()
	d.turns.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, l := range d.logs {
		errs = append(errs, l.failed)
		l.failed = nil
	}
	return errors.Join(errs...)
}

// end fails the waiting calls, and begins to close the open logs; a log that is
// being opened is closed when it is.
func (d *Databases) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.closed = true
	close(d.ending)
	for _, l := range d.waiting {
		l.finish(shut, eventstore.ErrClosed)
	}
	d.waiting = nil
	for _, l := range d.logs {
		if l.state == opened {
			d.shut(l)
		}
	}
}
