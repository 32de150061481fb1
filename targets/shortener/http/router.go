package http

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// action answers a request; rest is what follows a prefix in its path.
type action func(r *http.Request, rest string) result

// result is a whole answer as a value: nothing is sent until it is counted.
type result struct {
	status int
	write  func(http.ResponseWriter)
}

func answer(r reply.Reply) result { return result{r.Status, r.Write} }

func problem(status int, sentence string) result { return answer(reply.Failure(status, sentence)) }

// page is what answers at a path.
type page struct {
	route   shortener.Route
	methods map[string]action
}

// read is the methods of a page that changes nothing.
func read(a action) map[string]action {
	return map[string]action{http.MethodGet: a, http.MethodHead: a}
}

// write is the method of a page that creates.
func write(a action) map[string]action { return map[string]action{http.MethodPost: a} }

// router finds the page of a path, answers, and counts.
type router struct {
	exact, prefix map[string]page
	observe       func(route shortener.Route, status int, took time.Duration)
	now           func() time.Time
	logger        *slog.Logger
}

func (o *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := o.now()
	p, rest := o.find(r.URL.Path)
	answered := o.guarded(func() result { return p.answer(r, rest) })
	o.observe(p.route, answered.status, o.now().Sub(start))
	answered.write(w)
}

// find returns the page of a path, and what of the path follows it.
func (o *router) find(path string) (p page, rest string) {
	if p, ok := o.exact[path]; ok {
		return p, ""
	}
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		if p, ok := o.prefix[path[:i+1]]; ok {
			return p, path[i+1:]
		}
	}
	return page{route: shortener.RouteOther}, ""
}

func (p page) answer(r *http.Request, rest string) result {
	if p.methods == nil {
		return problem(http.StatusNotFound, "no such page")
	}
	do, ok := p.methods[r.Method]
	if !ok {
		return notAllowed(p.methods)
	}
	return do(r, rest)
}

func notAllowed(methods map[string]action) result {
	allowed := http.MethodPost
	if _, ok := methods[http.MethodPost]; !ok {
		allowed = http.MethodGet + ", " + http.MethodHead
	}
	refusal := reply.Failure(http.StatusMethodNotAllowed, "method not allowed: use "+allowed)
	refusal.Headers = []reply.Header{{Name: "Allow", Value: allowed}}
	return answer(refusal)
}

// guarded makes of a panic a result like any other; let through, it would
// leave the request uncounted.
func (o *router) guarded(do func() result) (answered result) {
	defer func() {
		if v := recover(); v != nil {
			answered = o.broken(v)
		}
	}()
	return do()
}

// broken answers a request that panicked.
func (o *router) broken(v any) result {
	o.logger.Error("panic while answering", "panic", fmt.Sprint(v))
	return problem(http.StatusInternalServerError, "An unexpected error occurred")
}
