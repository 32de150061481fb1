package settings

import (
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/settingstest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

type values struct {
	Name  string
	Count int
	Cache bool
	Wait  time.Duration
	Nets  []netip.Prefix
	Rate  float64
}

func parse(args []string, getenv func(string) string, out io.Writer) (values, error) {
	var v values
	s := New("target", "target does this.\n", getenv)
	s.String(&v.Name, "name", "NAME", "", "the `name`")
	s.Int(&v.Count, "count", "COUNT", "7", "a `number`")
	s.Bool(&v.Cache, "cache", "CACHE", "off", "`on or off`")
	s.Duration(&v.Wait, "wait", "WAIT", "1s", "a `time`")
	Value(s, &v.Nets, "nets", "NETS", "", "`networks`", Networks)
	Value(s, &v.Rate, "rate", "RATE", "0.5", "a `rate`", Number)
	return v, s.Parse(args, out)
}

func TestParse(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  map[string]string
		want values
	}{
		"nothing given": {want: values{Count: 7, Wait: time.Second, Rate: .5}},
		"by environment": {
			env: map[string]string{"NAME": "a", "COUNT": "1", "CACHE": "on", "WAIT": "2m", "NETS": "10.1.2.3/8, fd00::/8,", "RATE": "3"},
			want: values{Name: "a", Count: 1, Cache: true, Wait: 2 * time.Minute, Rate: 3,
				Nets: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}},
		},
		"the flag wins, even over nonsense": {
			args: []string{"--count=5"}, env: map[string]string{"COUNT": "many"},
			want: values{Count: 5, Wait: time.Second, Rate: .5},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(tt.args, servetest.Environment(tt.env), io.Discard)
			must.Succeed(t, err)
			same.As(t, "values", tt.want, got, cmpopts.EquateComparable(netip.Prefix{}))
		})
	}
}

func refused(args []string, getenv func(string) string, out io.Writer) error {
	_, err := parse(args, getenv, out)
	return err
}

func TestMistakesAreSaidTogether(t *testing.T) {
	settingstest.Refuses(t, refused, map[string]settingstest.Mistake{
		"an unknown flag": {Args: []string{"--burst=3"}, Want: "flag provided but not defined: -burst"},
		"an argument":     {Args: []string{"x"}, Want: `unexpected argument "x": settings are given as --name=value`},
		"no switch":       {Args: []string{"--cache=yes"}, Want: `invalid value "yes" for flag -cache: "yes" is neither on nor off`},
		"every mistake at once": {
			Env: map[string]string{"COUNT": "many", "WAIT": "3", "NETS": "10.0.0.1", "RATE": "fast"},
			Want: "invalid value \"many\" for COUNT: \"many\" is no whole number\n" +
				"invalid value \"3\" for WAIT: \"3\" is no duration: use the form 5s\n" +
				"invalid value \"10.0.0.1\" for NETS: \"10.0.0.1\" is no network: use the form 10.0.0.0/8\n" +
				"invalid value \"fast\" for RATE: \"fast\" is no number",
		},
	})
}

func TestHelpNamesFlagsVariablesAndDefaults(t *testing.T) {
	settingstest.Helps(t, refused, "target does this.", "-count number", "a number (COUNT, default 7)", "(NAME, default none)")
}
