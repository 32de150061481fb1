package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// Databases are the logs of a folder, each in a file of its own that is opened
// when it is first asked for.
type Databases struct {
	dir     string
	options Options

	mu     sync.Mutex
	closed bool
	open   map[string]*Store
}

// NewDatabases returns the logs of a folder.
func NewDatabases(dir string, o Options) (*Databases, error) {
	if _, err := o.withDefaults(); err != nil {
		return nil, err
	}
	return &Databases{dir: dir, options: o, open: map[string]*Store{}}, nil
}

// Store is the log of that name, which must be the proper name of a file. One
// that could not be opened is tried again when it is next asked for.
func (d *Databases) Store(name string) (eventstore.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, eventstore.ErrClosed
	}
	if s, ok := d.open[name]; ok {
		return s, nil
	}
	s, err := Open(filepath.Join(d.dir, name+".db"), d.options)
	if err != nil {
		return nil, fmt.Errorf("log %s: %w", name, err)
	}
	d.open[name] = s
	return s, nil
}

// Waiting is how many requests wait for the writers of all logs.
func (d *Databases) Waiting() int {
	sum := 0
	for _, s := range d.stores() {
		sum += s.Waiting()
	}
	return sum
}

// Open are the logs that have been asked for.
func (d *Databases) Open() []eventstore.Store {
	var list []eventstore.Store
	for _, s := range d.stores() {
		list = append(list, s)
	}
	return list
}

func (d *Databases) stores() []*Store {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]*Store, 0, len(d.open))
	for _, s := range d.open {
		list = append(list, s)
	}
	return list
}

// Close closes every log that was opened.
func (d *Databases) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	var errs []error
	for name, s := range d.open {
		if err := s.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close log %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
