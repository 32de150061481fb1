package command

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

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

// open returns where the results of one of so many LoadTests go; nil: nowhere. close
// ends the file, and says what it lacks.
func (o *resultsOptions) open(tests int, say func(string)) (_ *local.Results, closeFile func() error, err error) {
	if o.file == "" {
		return nil, func() error { return nil }, nil
	}
	if tests > 1 {
		return nil, nil, fmt.Errorf("--results holds the results of one LoadTest, and there are %d: run them one by one", tests)
	}
	f, err := os.Create(o.file)
	if err != nil {
		return nil, nil, fmt.Errorf("--results: %w", err)
	}
	out := bufio.NewWriter(f)
	r := &local.Results{To: out, Encoding: o.encoding}
	return r, func() error {
		if r.Missing > 0 {
			say(fmt.Sprintf("%s lacks %d requests, which were counted but not recorded", o.file, r.Missing))
		}
		return errors.Join(out.Flush(), f.Close())
	}, nil
}
