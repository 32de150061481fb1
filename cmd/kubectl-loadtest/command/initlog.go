package command

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/loadtest-dev/loadtest-operator/accesslog"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/draft"
)

// fromLog and fromSeries are flags whose values are files that are read as streams, or beside
// another source.
const (
	fromLog    = "from-log"
	fromSeries = "from-series"
)

// safe are the methods that change nothing.
var safe = []string{"GET", "HEAD"}

// logOptions are the flags of init about an access log.
type logOptions struct {
	file, fields, host string
	methods            []string
	named              *accesslog.Fields
}

func (o *logOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.file, fromLog, "", "Access log, which gzip may have compressed; - is the standard input")
	flags.StringVar(&o.fields, "log-fields", "", "With --from-log: fields of lines in JSON, as KIND=FIELD,…; needed are time, method and path, or time and request (GET /path HTTP/1.1); others are status, host, scheme, query and duration; default: those of known formats")
	flags.StringVar(&o.host, "log-host", "", "With --from-log: host whose requests are taken, as the log has it; default: the host with the most")
	flags.StringSliceVar(&o.methods, "log-methods", slices.Clone(safe), "With --from-log: methods of the requests that are safe to repeat; they are sent without a body")
}

// check refuses flags that have no meaning together, and reads the fields.
func (o *logOptions) check() (err error) {
	if o.file == "" {
		if o.fields != "" || o.host != "" || len(o.methods) > 0 && !slices.Equal(o.methods, safe) {
			return errors.New("--log-fields, --log-host and --log-methods need --from-log")
		}
		return nil
	}
	for i, method := range o.methods {
		o.methods[i] = strings.ToUpper(strings.TrimSpace(method))
		if !draft.HasMethod(o.methods[i]) {
			return fmt.Errorf("--log-methods: %q is not a method that a LoadTest can send, such as GET or POST", method)
		}
	}
	if o.fields != "" {
		if o.named, err = accesslog.ParseFields(o.fields); err != nil {
			return fmt.Errorf("--log-fields: %w", err)
		}
	}
	return nil
}

// draftFromLog reads a log as a stream: it may be larger than the memory.
func (c *config) draftFromLog(o *initOptions) (*draft.Draft, error) {
	in, done, err := open(o.log.file, c.streams.In)
	if err != nil {
		return nil, err
	}
	defer done()
	options := draft.LogOptions{Fields: o.log.named, Host: o.log.host, Methods: o.log.methods}
	if o.load.series == "" { // else the steps are those of the series
		options.Timing = &o.load.timing
	}
	return draft.FromLog(in, options)
}

func open(file string, stdin io.Reader) (in io.Reader, done func(), err error) {
	if file == "-" {
		return stdin, func() {}, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, errors.Unwrap(err)
	}
	return f, func() { _ = f.Close() }, nil
}

// loadOptions are the flags of init about what is sent over time.
type loadOptions struct {
	series, window, speed, scale string
	timing                       draft.Timing
}

func (o *loadOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.series, fromSeries, "", "CSV of time and rate, or JSON of Prometheus, that the steps follow; - is the standard input")
	flags.StringVar(&o.window, "window", "", "With --from-log or --from-series: FROM/TO in RFC 3339, the part that is taken; one of them may be left out")
	flags.StringVar(&o.speed, "speed", "", "With --from-log or --from-series: how many times as fast time passes, so that steps are shorter and rates higher, such as 2; default 1")
	flags.StringVar(&o.scale, "scale", "", "With --from-log or --from-series: factor of the rates, such as 0.5 or 1/24; default 1")
}

// check reads the flags, and refuses those that have no meaning without a source of rates.
func (o *loadOptions) check(hasLog bool) (err error) {
	if !hasLog && o.series == "" && o.window+o.speed+o.scale != "" {
		return errors.New("--window, --speed and --scale need --from-log or --from-series")
	}
	if o.timing.Speed, err = factor(o.speed); err != nil {
		return fmt.Errorf("--speed %w", err)
	}
	if o.timing.Scale, err = factor(o.scale); err != nil {
		return fmt.Errorf("--scale %w", err)
	}
	if o.window == "" {
		return nil
	}
	from, to, ok := strings.Cut(o.window, "/")
	for text, into := range map[string]*time.Time{from: &o.timing.From, to: &o.timing.To} {
		if text != "" {
			*into, err = time.Parse(time.RFC3339, text)
		}
		ok = ok && err == nil
	}
	if !ok || from == to || !o.timing.To.IsZero() && !o.timing.From.Before(o.timing.To) {
		return fmt.Errorf("--window %q is not FROM/TO with two times in RFC 3339, the earlier first, such as 2026-11-28T10:00:00Z/2026-11-28T11:00:00Z", o.window)
	}
	return nil
}

// factor is a number such as 2, 0.5 or 1/24; 1 by default.
func factor(text string) (float64, error) {
	const most = 1_000_000
	if text == "" {
		return 1, nil
	}
	const longest = 32
	if r, ok := new(big.Rat).SetString(text); ok && len(text) <= longest && !strings.ContainsAny(text, "eEpP") {
		if n, _ := r.Float64(); n <= most && n >= 1.0/most {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%q is not a number between 1/%d and %d, such as 2, 0.5 or 1/24", text, most, most)
}

// follow makes a series the load of a draft.
func (o *loadOptions) follow(d *draft.Draft, stdin io.Reader) error {
	if o.series == "" {
		return nil
	}
	in, done, err := open(o.series, stdin)
	if err == nil {
		defer done()
		err = followSeries(d, in, o.timing)
	}
	if err != nil {
		return fmt.Errorf("--%s %s: %w", fromSeries, o.series, err)
	}
	return nil
}

func followSeries(d *draft.Draft, in io.Reader, timing draft.Timing) error {
	data, err := io.ReadAll(io.LimitReader(in, draft.MaxSeries+1))
	if err != nil {
		return err
	}
	if len(data) > draft.MaxSeries {
		return fmt.Errorf("it has more than %d MiB: ask for the series with a longer step", draft.MaxSeries>>20)
	}
	s, err := draft.ReadSeries(data)
	if err != nil {
		return err
	}
	return d.Follow(s, timing)
}
