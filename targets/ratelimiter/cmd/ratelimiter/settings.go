package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// settings are values that a flag or an environment variable may give.
type settings struct {
	flags  *flag.FlagSet
	getenv func(string) string
	all    []setting
}

type setting struct {
	flag, env, fallback string
	parse               func(string) error
}

func newSettings(getenv func(string) string) *settings {
	flags := flag.NewFlagSet("ratelimiter", flag.ContinueOnError)
	// A mistake is answered by one sentence, not by the whole of the help.
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	return &settings{flags: flags, getenv: getenv}
}

func (s *settings) string(p *string, name, env, fallback, help string) {
	s.parsed(name, env, fallback, help, func(v string) error {
		*p = v
		return nil
	})
}

func (s *settings) int(p *int, name, env, fallback, help string) {
	s.parsed(name, env, fallback, help, func(v string) error {
		n, err := parseWhole(v)
		*p = int(n)
		return err
	})
}

func (s *settings) parsed(name, env, fallback, help string, parse func(string) error) {
	shown := fallback
	if shown == "" {
		shown = "none"
	}
	s.flags.Func(name, fmt.Sprintf("%s (%s, default %s)", help, env, shown), parse)
	s.all = append(s.all, setting{flag: name, env: env, fallback: fallback, parse: parse})
}

// parse reads the flags, then for each flag that is not there its environment
// variable, then the fallback.
func (s *settings) parse(args []string, out io.Writer) error {
	if err := s.flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, usage)
		s.flags.SetOutput(out)
		s.flags.PrintDefaults()
		return err
	} else if err != nil {
		return err
	}
	if s.flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: settings are given as --name=value", s.flags.Arg(0))
	}
	given := map[string]bool{}
	s.flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var errs []error
	for _, setting := range s.all {
		if !given[setting.flag] {
			errs = append(errs, s.fromEnvironment(setting))
		}
	}
	return errors.Join(errs...)
}

func (s *settings) fromEnvironment(x setting) error {
	value := s.getenv(x.env)
	if value == "" {
		value = x.fallback
	}
	if err := x.parse(value); err != nil {
		return fmt.Errorf("invalid value %q for %s: %w", value, x.env, err)
	}
	return nil
}
