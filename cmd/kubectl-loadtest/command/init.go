package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/draft"
)

// initOptions are the flags of init.
type initOptions struct {
	from          map[string]*string
	grpc          grpcOptions
	log           logOptions
	load          loadOptions
	name, service string
	schedule      string
}

// sources are what a LoadTest is made from, by flag.
var sources = map[string]struct {
	about string
	read  func([]byte) (*draft.Draft, error)
}{
	"from-curl":    {"File with a curl command, as a browser copies it", func(b []byte) (*draft.Draft, error) { return draft.FromCurlText(string(b)) }},
	"from-openapi": {"OpenAPI document, version 3, in JSON or YAML", draft.FromOpenAPI},
	"from-har":     {"HAR file, as a browser saves it", draft.FromHAR},
	"from-vegeta":  {"Targets file of vegeta, in its HTTP or JSON format", draft.FromVegeta},
}

func (c *config) init() *cobra.Command {
	o := initOptions{from: map[string]*string{}}
	command := &cobra.Command{
		Use:   "init curl URL... | init --from-curl|--from-openapi|--from-har|--from-vegeta|--from-log FILE | init --from-grpc HOST:PORT | init --from-series FILE",
		Short: "Write a first LoadTest from a curl command, an OpenAPI document, a HAR file, vegeta's targets, an access log or a server of gRPC",
		Long: "Write a LoadTest, with comments, to the standard output. Its load is small, unless it\n" +
			"is that of a log or a series; read it, change it, and look at what it would do with plan.\n" +
			"With --schedule it is the template of a LoadTestSchedule.\n\n" +
			"With --from-grpc, init asks the reflection of a gRPC server for its services; the server must\n" +
			"offer reflection. Each method becomes a request, with a message made up from its type.\n\n" +
			"With --from-log, the traffic mix is that of an access log, by method and pattern of the path\n" +
			"(numbers, identifiers and texts that differ are one pattern, sent with one example), and\n" +
			"the steps have its rates. Formats are recognized line by line, gzip too: common and combined\n" +
			"of Apache and Nginx, Envoy and Istio, AWS application load balancers, and JSON of Envoy, Google\n" +
			"Cloud, Caddy, Traefik and Nginx; --log-fields names the fields of another JSON. Only GET and\n" +
			"HEAD are taken, unless --log-methods says that others are safe to repeat. What was read, what\n" +
			"could not be parsed and what is left out is printed on the standard error.\n\n" +
			"With --from-series, the steps follow rates over time: lines of TIME,RATE, or what Prometheus\n" +
			"answers a range query with. It goes with each of the other sources, or alone with --service.\n" +
			"--window, --speed and --scale choose a part of the time, and change it: that of the series, if\n" +
			"there is one, else that of the log.\n\n" +
			"Credentials in headers (Authorization, Cookie, X-Api-Key and the like) are not written:\n" +
			"the LoadTest names a Secret, and a comment says how to create it. Those in query strings\n" +
			"are left out. Check bodies for others yourself.",
		Example: "  kubectl loadtest init curl https://shop.example.com/api/cart -H 'Accept: application/json' > cart.yaml\n" +
			"  kubectl loadtest init curl -X POST http://shop/orders --json '{\"item\": 1}' --service shop:80 > order.yaml\n" +
			"  xclip -o | kubectl loadtest init --from-curl - > copied.yaml\n" +
			"  kubectl loadtest init --from-openapi openapi.yaml --service shop:http > shop.yaml\n" +
			"  kubectl loadtest init --from-har session.har > session.yaml\n" +
			"  kubectl loadtest init --from-vegeta targets.txt --name replay > replay.yaml\n" +
			"  kubectl loadtest init --from-log access.log.gz --service shop:80 > mix.yaml\n" +
			"  kubectl logs -n ingress deploy/controller | kubectl loadtest init --from-log - --log-host shop.example.com > mix.yaml\n" +
			"  kubectl loadtest init --from-log day.log --window 2026-11-28T18:00:00Z/2026-11-28T20:00:00Z --speed 2 > evening.yaml\n" +
			"  kubectl loadtest init --from-log lb.json --log-fields time=at,method=verb,path=url,status=code > mix.yaml\n" +
			"  kubectl loadtest init --from-har session.har --from-series rates.csv --speed 24 --scale 1/24 > day-in-an-hour.yaml\n" +
			"  kubectl loadtest init --from-grpc localhost:9090 --service shop:9090 > calls.yaml   # after kubectl port-forward\n" +
			"  kubectl loadtest init --from-grpc https://shop.example.com --grpc-service shop.v1.Cart --header \"Authorization: Bearer $TOKEN\" > cart.yaml\n" +
			"  kubectl loadtest init curl http://shop/ --service shop:80 --schedule '30 2 * * *' > nightly.yaml",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runInit(cmd.Context(), &o) },
	}
	flags := command.Flags()
	for name, source := range sources {
		o.from[name] = flags.String(name, "", source.about+"; - is the standard input")
	}
	o.grpc.bind(flags)
	o.log.bind(flags)
	o.load.bind(flags)
	o.bind(flags)
	command.AddCommand(c.initCurl())
	return command
}

func (o *initOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.name, "name", "", "Name of the LoadTest; default: the name of the host")
	flags.StringVar(&o.schedule, "schedule", "", "Times in the five fields of cron, or @daily: write a LoadTestSchedule")
	flags.StringVar(&o.service, "service", "", "NAME or NAME:PORT of the Service that is the target; default: the host of the source")
}

func (c *config) runInit(ctx context.Context, o *initOptions) error {
	var given []string
	for name, file := range o.from {
		if *file != "" {
			given = append(given, name)
		}
	}
	if o.grpc.address != "" {
		given = append(given, fromGRPC)
	}
	if o.log.file != "" {
		given = append(given, fromLog)
	}
	if len(given) == 0 && o.load.series != "" {
		given = append(given, fromSeries)
	}
	if len(given) != 1 {
		return fmt.Errorf("give one of --from-curl, --from-openapi, --from-har, --from-vegeta, --from-log, --from-grpc and --from-series, or init curl URL; %d given", len(given))
	}
	if err := o.check(given[0]); err != nil {
		return err
	}
	d, source, err := c.draftFrom(ctx, o, given[0])
	if err != nil {
		return fmt.Errorf("--%s %s: %w", given[0], source, err)
	}
	return c.writeDraft(d, o)
}

// check refuses flags that have no meaning together.
func (o *initOptions) check(from string) error {
	if err := o.grpc.check(); err != nil {
		return err
	}
	if err := o.log.check(); err != nil {
		return err
	}
	if file := o.from[from]; o.load.series == "-" && (file != nil && *file == "-" || o.log.file == "-") {
		return fmt.Errorf("--%s and --from-series cannot both be the standard input", from)
	}
	return o.load.check(from == fromLog)
}

// draftFrom reads one source.
func (c *config) draftFrom(ctx context.Context, o *initOptions, from string) (d *draft.Draft, source string, err error) {
	switch from {
	case fromGRPC:
		d, err = o.grpc.draft(ctx)
		return d, o.grpc.address, err
	case fromLog:
		d, err = c.draftFromLog(o)
		return d, o.log.file, err
	case fromSeries:
		return draft.FromSeries(), "", nil
	}
	source = *o.from[from]
	d, err = readDraft(source, c.streams.In, sources[from].read)
	return d, source, err
}

func readDraft(file string, stdin io.Reader, read func([]byte) (*draft.Draft, error)) (*draft.Draft, error) {
	data, err := readAll(file, stdin)
	if err != nil {
		return nil, err
	}
	return read(data)
}

func readAll(file string, stdin io.Reader) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(stdin)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	return data, nil
}

// initCurl takes curl's own flags after it, and ours.
func (c *config) initCurl() *cobra.Command {
	return &cobra.Command{
		Use:                "curl URL [-H HEADER] [-d DATA] [CURL'S FLAGS] [--name NAME] [--service NAME:PORT] [--schedule CRON] [--from-series FILE]",
		Short:              "Write a first LoadTest from the arguments of a curl command",
		Example:            "  kubectl loadtest init curl https://shop.example.com/api/cart -H 'Accept: application/json'",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, func(a string) bool { return a == "--help" || a == "-h" }) {
				return cmd.Help()
			}
			var o initOptions
			rest, err := o.takeOwn(args)
			if err != nil {
				return err
			}
			if err := o.load.check(false); err != nil {
				return err
			}
			d, err := draft.FromCurl(rest)
			if err != nil {
				return err
			}
			return c.writeDraft(d, &o)
		},
	}
}

// takeOwn takes our flags out of the arguments of curl, which has none of these names.
func (o *initOptions) takeOwn(args []string) (rest []string, err error) {
	own := map[string]*string{"--name": &o.name, "--service": &o.service, "--schedule": &o.schedule,
		"--" + fromSeries: &o.load.series, "--window": &o.load.window, "--speed": &o.load.speed, "--scale": &o.load.scale}
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		into := own[name]
		if into == nil {
			rest = append(rest, args[i])
			continue
		}
		if !given {
			if i++; i == len(args) {
				return nil, fmt.Errorf("%s needs a value", name)
			}
			value = args[i]
		}
		*into = value
	}
	return rest, nil
}

func (c *config) writeDraft(d *draft.Draft, o *initOptions) error {
	d.Name, d.Service, d.Schedule = o.name, o.service, o.schedule
	if err := o.load.follow(d, c.streams.In); err != nil {
		return err
	}
	data, err := d.Manifest()
	if err != nil {
		return err
	}
	for _, line := range d.Account {
		_, _ = fmt.Fprintln(c.streams.Err, line)
	}
	if _, err := c.streams.Out.Write(data); err != nil {
		return fmt.Errorf("write the LoadTest: %w", err)
	}
	return nil
}
