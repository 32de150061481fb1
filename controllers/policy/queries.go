package policy

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

const (
	// defaultAnswer and maxAnswer bound the time for which the end of a step waits.
	defaultAnswer = 5 * time.Second
	maxAnswer     = 10 * time.Second
	// maxQueries bounds the document, and maxExpression a request to Prometheus.
	maxQueries, maxExpression = 64, 4096
	// maxLimited is how many queries with a limit are asked for a run that names none.
	maxLimited = 4
)

// Query is a question to the administrator's Prometheus. Expression may have variables.
type Query struct {
	Name, Expression string
	// Limit is the value at which what it counts is used up; empty: it has none.
	Limit string
}

// Queries are what a namespace may ask, each name once. The zero value is nothing.
type Queries struct {
	list []Query
	// all says that it is not known which there are: on a machine of one's own.
	all bool
}

// Prometheus is where questions are asked.
type Prometheus struct {
	// URL is without the path of the API; empty: there is no Prometheus.
	URL string
	// Timeout bounds an answer.
	Timeout time.Duration
}

// Prometheus is where questions are asked.
func (p *Policy) Prometheus() Prometheus {
	c := p.config.Prometheus
	if c == nil {
		return Prometheus{}
	}
	to := Prometheus{URL: strings.TrimRight(c.URL, "/"), Timeout: defaultAnswer}
	if c.Timeout != nil {
		to.Timeout = c.Timeout.Duration
	}
	return to
}

func (p *Policy) queries(namespace string) (list Queries) {
	if p.config.Prometheus == nil {
		return Queries{}
	}
	for _, q := range p.config.Prometheus.Queries {
		if _, known := list.Named(q.Name); known || !selects(q.Namespaces, namespace) {
			continue
		}
		one := Query{Name: q.Name, Expression: q.Expression}
		if q.Limit != nil {
			one.Limit = q.Limit.String()
		}
		list.list = append(list.list, one)
	}
	return list
}

// Named is the query of a name.
func (q Queries) Named(name string) (_ Query, ok bool) {
	i := slices.IndexFunc(q.list, func(o Query) bool { return o.Name == name })
	if i < 0 {
		return Query{}, false
	}
	return q.list[i], true
}

// Allows says whether a LoadTest may name a query.
func (q Queries) Allows(name string) bool {
	_, ok := q.Named(name)
	return ok || q.all
}

// Names are those of all queries.
func (q Queries) Names() (list []string) {
	for _, o := range q.list {
		list = append(list, o.Name)
	}
	return list
}

// Limited are the names of the queries with a limit that are asked for every run.
func (q Queries) Limited() (list []string) {
	for _, o := range q.list {
		if o.Limit != "" && len(list) < maxLimited {
			list = append(list, o.Name)
		}
	}
	return list
}

var (
	queryName  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9 ._-]{0,61}[A-Za-z0-9])?$`)
	queryLimit = regexp.MustCompile(`^[0-9]{1,12}([.][0-9]{1,6})?$`)
)

func checkPrometheus(c *config.Prometheus) error {
	switch {
	case c == nil:
		return nil
	case c.Timeout != nil && (c.Timeout.Duration <= 0 || c.Timeout.Duration > maxAnswer):
		return fmt.Errorf("prometheus.timeout: %s must be more than 0s and at most %s", c.Timeout.Duration, maxAnswer)
	case len(c.Queries) > maxQueries:
		return fmt.Errorf("prometheus.queries: there are %d, at most %d are allowed", len(c.Queries), maxQueries)
	}
	u, err := readURL(c.URL)
	if err != nil {
		return fmt.Errorf("prometheus.url: %w", err)
	}
	if u.RawQuery != "" {
		return fmt.Errorf("prometheus.url: must not have a query: give a scheme, a host, a port and perhaps a path")
	}
	for i, q := range c.Queries {
		if err := checkQuery(q); err != nil {
			return fmt.Errorf("prometheus.queries[%d].%w", i, err)
		}
	}
	return nil
}

func checkQuery(q config.Query) error {
	switch {
	case !queryName.MatchString(q.Name):
		return fmt.Errorf("name: %q must be 1 to 63 letters, digits, spaces, dots, hyphens and underscores", q.Name)
	case strings.TrimSpace(q.Expression) == "" || len(q.Expression) > maxExpression:
		return fmt.Errorf("expression: must be an expression of PromQL with at most %d bytes", maxExpression)
	}
	if err := checkVariables(q.Expression); err != nil {
		return fmt.Errorf("expression: %w", err)
	}
	if q.Limit == nil {
		return nil
	}
	limit, ok := new(big.Rat).SetString(q.Limit.String())
	if !ok || !queryLimit.MatchString(q.Limit.String()) || limit.Sign() <= 0 {
		return fmt.Errorf("limit: %q must be a number above 0, such as 20 or \"0.5\"", q.Limit.String())
	}
	return nil
}
