package command

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
)

// resultsOptions are the flags for the results of single requests.
type resultsOptions struct {
	file, encoding string
}

func (o *resultsOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.file, "results", "", "With --local: file for a result of each request, which vegeta report, vegeta plot and vegeta encode read")
	flags.StringVar(&o.encoding, "results-encoding", local.Encodings[0], "With --results: one of vegeta's encodings: "+oneOf(local.Encodings))
}

func (o *resultsOptions) check() error {
	if !slices.Contains(local.Encodings, o.encoding) {
		return fmt.Errorf("--results-encoding must be one of %s, not %q", oneOf(local.Encodings), o.encoding)
	}
	return nil
}

// open returns where the results of one of these LoadTests go; nil: nowhere. close ends the file, and says
// what it lacks.
func (o *resultsOptions) open(tests []*v1beta1.LoadTest, say func(string)) (_ *local.Results, closeFile func() error, err error) {
	if o.file == "" {
		return nil, func() error { return nil }, nil
	}
	if len(tests) > 1 {
		return nil, nil, fmt.Errorf("--results holds the results of one LoadTest, and there are %d: run them one by one", len(tests))
	}
	if len(tests) == 1 && len(tests[0].Spec.Loads) > 0 {
		return nil, nil, local.ErrResultsOfLoads
	}
	f, err := openKept(o.file)
	if err != nil {
		return nil, nil, fmt.Errorf("--results: %w", err)
	}
	out := bufio.NewWriter(f)
	r := &local.Results{To: out, Encoding: o.encoding}
	return r, func() error {
		if r.Missing > 0 {
			say(fmt.Sprintf("%s lacks %d requests, which were counted but not recorded", o.file, r.Missing))
		}
		err := out.Flush()
		if !f.isWritten && !f.isNew {
			say(fmt.Sprintf("%s has what it had before: no result was written to it", o.file))
		}
		return errors.Join(err, f.close())
	}, nil
}

// keptFile is a file that keeps what it has until something is written to it: the run before may have
// cost hours, and this one may be refused.
type keptFile struct {
	*os.File
	// isNew says that there was no such file, isWritten that something was written to it.
	isNew, isWritten bool
}

// openKept opens a file before the run: after it, it is too late to say that nothing can be written.
func openKept(name string) (*keptFile, error) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	isNew := errors.Is(err, os.ErrNotExist)
	if isNew {
		f, err = os.Create(name)
	}
	return &keptFile{File: f, isNew: isNew}, err
}

// Write empties the file before it writes the first time.
func (f *keptFile) Write(data []byte) (int, error) {
	if !f.isWritten {
		f.isWritten = true
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			if err := f.Truncate(0); err != nil {
				return 0, err
			}
		}
	}
	return f.File.Write(data)
}

// close leaves no empty file where none was.
func (f *keptFile) close() error {
	err := f.Close()
	if f.isNew && !f.isWritten {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
