package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/cover"
)

const source = `package p

var limit = 2 * 3

func sign(n int) int {
	switch {
	case n > limit, n == 7:
		return 1
	}
	return 0
}

func never(n int) int {
	switch n {
	case 1 + 1:
		return 1
	}
	return 0
}
`

// profile is what Go says of the source if sign was called and never was not.
const profile = `mode: set
m/p.go:5.22,6.9 1 1
m/p.go:7.25,8.11 1 0
m/p.go:10.2,10.10 1 1
m/p.go:13.23,14.11 1 0
m/p.go:15.13,16.11 1 0
m/p.go:18.2,18.10 1 0
`

func TestCasesOfASwitchThatRanAndPackageValuesAreCovered(t *testing.T) {
	profiles, err := cover.ParseProfilesFromReader(strings.NewReader(profile))
	if err != nil {
		t.Fatal(err)
	}
	got, err := widen(profiles[0], []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := "m/p.go:7.7,7.16 1 1\nm/p.go:7.18,7.24 1 1\nm/p.go:3.13,3.18 1 1\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := widen(profiles[0], []byte("package")); err == nil {
		t.Error("a file that is no Go was widened")
	}
}

func TestBarsOfAPackage(t *testing.T) {
	for _, tc := range []struct {
		r    report
		good bool
		line string
	}{
		{report{Killed: 97, Lived: 3, NotCovered: 5}, true, "mutation: package=p killed=97 lived=3 timed-out=0 efficacy=97.0 covered=95.2"},
		{report{Killed: 96, Lived: 4}, false, "mutation: package=p killed=96 lived=4 timed-out=0 efficacy=96.0 covered=100.0"},
		{report{Killed: 90, NotCovered: 10}, false, "mutation: package=p killed=90 lived=0 timed-out=0 efficacy=100.0 covered=90.0"},
		{report{}, false, "mutation: package=p killed=0 lived=0 timed-out=0 efficacy=0.0 covered=0.0"},
	} {
		if got := tc.r.line("p"); got != tc.line || tc.r.good() != tc.good {
			t.Errorf("%s, good: %v; want %s, %v", got, tc.r.good(), tc.line, tc.good)
		}
	}
}
