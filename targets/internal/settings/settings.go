package settings

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// Settings are values that a flag or an environment variable may give.
type Settings struct {
	usage  string
	flags  *flag.FlagSet
	getenv func(string) string
	all    []setting
}

type setting struct {
	flag, env, fallback string
	parse               func(string) error
}

// New returns settings without any value, of a program whose help begins with
// usage.
func New(program, usage string, getenv func(string) string) *Settings {
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	// A mistake is answered by one sentence, not by the whole of the help.
	flags.SetOutput(io.Discard)
	return &Settings{usage: usage, flags: flags, getenv: getenv}
}

// String adds a value that is taken as it is.
func (s *Settings) String(p *string, name, env, fallback, help string) {
	s.Parsed(name, env, fallback, help, func(v string) error {
		*p = v
		return nil
	})
}

// Int adds a whole number.
func (s *Settings) Int(p *int, name, env, fallback, help string) {
	s.Parsed(name, env, fallback, help, func(v string) error {
		n, err := Whole(v)
		*p = int(n)
		return err
	})
}

// Bool adds a switch, which is given as on or off.
func (s *Settings) Bool(p *bool, name, env, fallback, help string) {
	Value(s, p, name, env, fallback, help, Switch)
}

// Duration adds a length of time.
func (s *Settings) Duration(p *time.Duration, name, env, fallback, help string) {
	Value(s, p, name, env, fallback, help, Duration)
}

// Value adds a value that is read by a function into p.
func Value[T any](s *Settings, p *T, name, env, fallback, help string, read func(string) (T, error)) {
	s.Parsed(name, env, fallback, help, func(v string) (err error) {
		*p, err = read(v)
		return err
	})
}

// Parsed adds a value of any form. The help names it in backquotes; fallback is the
// default without a flag and an environment variable.
func (s *Settings) Parsed(name, env, fallback, help string, parse func(string) error) {
	shown := fallback
	if shown == "" {
		shown = "none"
	}
	s.flags.Func(name, fmt.Sprintf("%s (%s, default %s)", help, env, shown), parse)
	s.all = append(s.all, setting{flag: name, env: env, fallback: fallback, parse: parse})
}

// Parse reads the flags, then for each flag that is not there its environment
// variable, then the fallback. Help is written to out, and returned as
// flag.ErrHelp.
func (s *Settings) Parse(args []string, out io.Writer) error {
	if err := s.flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, s.usage)
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

func (s *Settings) fromEnvironment(x setting) error {
	value := s.getenv(x.env)
	if value == "" {
		value = x.fallback
	}
	if err := x.parse(value); err != nil {
		return fmt.Errorf("invalid value %q for %s: %w", value, x.env, err)
	}
	return nil
}
