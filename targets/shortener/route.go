package shortener

import (
	"fmt"
	"slices"
	"strings"
)

// API names the shapes that are served. The canonical one always is; the
// others serve an original's beside it.
type API string

const (
	// Canonical is POST /urls, GET /urls/{code}, and redirects with 302.
	Canonical API = "canonical"
	// Seed001 adds POST /shorten, a form answered by a page of HTML. It
	// redirects with 301, as the original does.
	Seed001 API = "seed-001"
	// Seed002 adds POST /api/urls and GET /api/urls/{code}.
	Seed002 API = "seed-002"
)

// APIs returns every API.
func APIs() []API { return []API{Canonical, Seed001, Seed002} }

// ParseAPI returns the API of that name.
func ParseAPI(name string) (API, error) {
	if a := API(name); slices.Contains(APIs(), a) {
		return a, nil
	}
	var names []string
	for _, a := range APIs() {
		names = append(names, string(a))
	}
	return "", fmt.Errorf("%q is no API: use one of %s", name, strings.Join(names, ", "))
}

// Route is what a request is for, in whatever shape. The set is closed, so that
// it can label a metric.
type Route int

// The routes. RouteOther is every other path.
const (
	RouteRedirect Route = iota
	RouteCreate
	RouteDetails
	RouteStats
	RouteHealth
	RouteReady
	RouteVersion
	RouteMetrics
	RouteOther
)

var routes = [...]string{"redirect", "create", "details", "stats", "health", "ready", "version", "metrics", "other"}

func (r Route) String() string { return routes[r] }

// Routes returns every route.
func Routes() []Route {
	all := make([]Route, len(routes))
	for i := range all {
		all[i] = Route(i)
	}
	return all
}
