package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
)

// Store is a folder with a file for each experiment that has run.
type Store string

func (s Store) path(name string) string { return filepath.Join(string(s), name+".yaml") }

// Write puts a record in place of an earlier one, as a whole or not at all.
func (s Store) Write(r *Record) error {
	text, err := r.Marshal()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(s), 0o755); err != nil {
		return err
	}
	partial := s.path(r.Experiment) + ".partial"
	if err := os.WriteFile(partial, text, 0o644); err != nil {
		return err
	}
	return os.Rename(partial, s.path(r.Experiment))
}

// Read is the record of an experiment, nil if there is none.
func (s Store) Read(name string) (*Record, error) {
	text, err := os.ReadFile(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := Unmarshal(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path(name), err)
	}
	if r.Experiment != name {
		return nil, fmt.Errorf("%s: is the result of %s", s.path(name), r.Experiment)
	}
	return r, nil
}

// Results are the records by experiment.
type Results map[string]*Record

// All are the records that there are.
func (s Store) All() (Results, error) {
	all := Results{}
	for _, e := range experiment.All() {
		r, err := s.Read(e.Name)
		if err != nil {
			return nil, err
		}
		if r != nil {
			all[e.Name] = r
		}
	}
	return all, nil
}
