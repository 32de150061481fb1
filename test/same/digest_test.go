package same_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

type part struct {
	number int
	list   []float64
	names  map[string]*part
	any    any
	at     time.Time
	self   *part
}

// Whatever a function writes to shows in the digest, and reading does not.
func TestDigestShowsWhatIsWritten(t *testing.T) {
	made := func() *part {
		p := &part{number: 1, list: make([]float64, 1, 2), names: map[string]*part{"a": {}, "b": {}}, any: &part{}, at: time.Unix(1, 0)}
		p.self = p
		return p
	}
	for name, tc := range map[string]struct {
		write func(*part)
		shows bool
	}{
		"nothing":                  {func(*part) {}, false},
		"reading a time":           {func(p *part) { _ = p.at.Local().String() }, false},
		"a number":                 {func(p *part) { p.number++ }, true},
		"an element":               {func(p *part) { p.list[0] = 1 }, true},
		"spare capacity":           {func(p *part) { _ = append(p.list, 1) }, true},
		"an entry":                 {func(p *part) { p.names["c"] = nil }, true},
		"an entry that is removed": {func(p *part) { delete(p.names, "a") }, true},
		"behind an entry":          {func(p *part) { p.names["a"].number = 7 }, true},
		"behind an interface":      {func(p *part) { p.any.(*part).number = 7 }, true},
		"a time":                   {func(p *part) { p.at = p.at.Add(1) }, true},
		"a pointer":                {func(p *part) { p.self = &part{number: 1} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := made()
			before := same.Digest(1, p)
			if same.Digest(1, p) != before {
				t.Fatal("two digests of the same differ")
			}
			tc.write(p)
			if shows := same.Digest(1, p) != before; shows != tc.shows {
				t.Errorf("the digest changes: %t, want %t", shows, tc.shows)
			}
		})
	}
}
