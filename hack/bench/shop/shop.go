package main

import (
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

const (
	// looks is how often an order is looked at until it is paid.
	looks = 3
	// perWord is how many products a search finds.
	perWord = 10
	// bodyLimit bounds what is read of a request, in bytes.
	bodyLimit = 1 << 12
	cookie    = "session"
	// paid is the kind of a look that finds the order paid.
	paid = "GET /orders/{id}, paid"
)

//go:embed words.csv
var words string

// shop is what customers see, one request at a time: it has one core.
type shop struct {
	pages *http.ServeMux
	found map[string]found

	mu       sync.Mutex
	sessions map[string]*session
	orders   int64 // so far
	counted  groundtruth.Counters
	begun    chan struct{} // closed by the first request
}

// found is what a search finds: products from first on, and their page.
type found struct {
	first int
	page  string
}

// session is one customer, from the page with the form to the paid order.
type session struct {
	id, csrf string
	loggedIn bool
	found    found
	inCart   bool
	order    int64
	looks    int
}

// reply is what a customer is told.
type reply struct {
	status   int
	kind     string // counted instead of the pattern
	location string
	cookie   string
	html     string
	json     string
}

func refuse(status int, why string) reply { return reply{status: status, html: why} }

func newShop() *shop {
	s := &shop{pages: http.NewServeMux(), found: catalogue(words), sessions: map[string]*session{}, begun: make(chan struct{})}
	s.counted.Routes = map[string]int64{}
	for pattern, page := range map[string]func(*session, *http.Request) reply{
		"GET /login": s.form, "POST /login": login, "GET /{$}": home, "GET /search": s.search,
		"POST /cart": fill, "POST /checkout": s.checkout, "GET /orders/{id}": s.look,
	} {
		s.pages.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, pattern, page) })
	}
	s.pages.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, "/", func(*session, *http.Request) reply { return refuse(http.StatusNotFound, "there is no such page") })
	})
	return s
}

// catalogue has the products that each word of a table finds.
func catalogue(table string) map[string]found {
	type product struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	list := map[string]found{}
	for i, word := range strings.Fields(table)[1:] {
		f := found{first: 1 + i*perWord}
		var products []product
		for n := range perWord {
			products = append(products, product{f.first + n, fmt.Sprintf("%s no. %d", word, n+1)})
		}
		text, _ := json.Marshal(map[string]any{"products": products}) // texts and numbers alone
		f.page = string(text)
		list[word] = f
	}
	return list
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.pages.ServeHTTP(w, r) }

// serve answers and counts a request.
func (s *shop) serve(w http.ResponseWriter, r *http.Request, pattern string, page func(*session, *http.Request) reply) {
	now := groundtruth.Now()
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	err := r.ParseForm()
	s.mu.Lock()
	s.come(now)
	answer := refuse(http.StatusBadRequest, "the form cannot be read")
	if err == nil {
		answer = page(s.session(r), r)
	}
	s.count(pattern, answer)
	s.mu.Unlock()
	answer.write(w)
}

// come dates a request.
func (s *shop) come(now int64) {
	if s.counted.First == 0 {
		s.counted.First = now
		close(s.begun)
	}
	s.counted.Last = now
}

func (s *shop) count(pattern string, answer reply) {
	s.counted.Requests++
	if answer.status >= http.StatusBadRequest {
		return
	}
	s.counted.Answered++
	if answer.kind != "" {
		pattern = answer.kind
	}
	s.counted.Routes[pattern]++
}

// session is the session of a request; an empty one if it has none.
func (s *shop) session(r *http.Request) *session {
	if c, err := r.Cookie(cookie); err == nil && s.sessions[c.Value] != nil {
		return s.sessions[c.Value]
	}
	return &session{}
}

// filler makes a page as long as a small one is.
var filler = strings.Repeat("<p>Everything for the house, and for the garden behind it.</p>\n", 12)

const formPage = `<!doctype html>
<html><head><title>Shop</title></head><body>
%s<form method="post" action="/login">
<input type="hidden" name="csrf" value="%s">
<input type="email" name="email"><button>Log in</button>
</form></body></html>
`

func (s *shop) form(*session, *http.Request) reply {
	c := &session{id: rand.Text(), csrf: rand.Text()}
	s.sessions[c.id] = c
	return reply{status: http.StatusOK, cookie: c.id, html: fmt.Sprintf(formPage, filler, c.csrf)}
}

func login(c *session, r *http.Request) reply {
	switch {
	case c.csrf == "":
		return refuse(http.StatusForbidden, "there is no session")
	case r.PostForm.Get("csrf") != c.csrf:
		return refuse(http.StatusForbidden, "the csrf token is wrong")
	case r.PostForm.Get("email") == "":
		return refuse(http.StatusUnauthorized, "the email is missing")
	}
	c.loggedIn = true
	return reply{status: http.StatusSeeOther, location: "/"}
}

var notLoggedIn = refuse(http.StatusUnauthorized, "log in first")

func home(c *session, _ *http.Request) reply {
	if !c.loggedIn {
		return notLoggedIn
	}
	return reply{status: http.StatusOK, html: filler}
}

func (s *shop) search(c *session, r *http.Request) reply {
	if !c.loggedIn {
		return notLoggedIn
	}
	f, ok := s.found[r.Form.Get("q")]
	if !ok {
		return refuse(http.StatusNotFound, "nothing was found")
	}
	c.found = f
	return reply{status: http.StatusOK, json: f.page}
}

func fill(c *session, r *http.Request) reply {
	if !c.loggedIn {
		return notLoggedIn
	}
	id, err := strconv.Atoi(r.PostForm.Get("product"))
	if err != nil || c.found.first == 0 || id < c.found.first || id >= c.found.first+perWord {
		return refuse(http.StatusBadRequest, "the product was not found before")
	}
	c.inCart = true
	return reply{status: http.StatusOK, json: `{"items":1}`}
}

func (s *shop) checkout(c *session, _ *http.Request) reply {
	if !c.loggedIn {
		return notLoggedIn
	}
	if !c.inCart {
		return refuse(http.StatusConflict, "the cart is empty")
	}
	s.orders++
	c.inCart, c.order, c.looks = false, s.orders, 0
	return reply{status: http.StatusOK, json: fmt.Sprintf(`{"order":%d}`, c.order)}
}

// look ends the session when it finds the order paid.
func (s *shop) look(c *session, r *http.Request) reply {
	if c.order == 0 || r.PathValue("id") != strconv.FormatInt(c.order, 10) {
		return refuse(http.StatusNotFound, "this is no order of yours")
	}
	if c.looks++; c.looks < looks {
		return reply{status: http.StatusOK, json: `{"paid":false}`}
	}
	delete(s.sessions, c.id)
	return reply{status: http.StatusOK, kind: paid, json: `{"paid":true}`}
}

func (a reply) write(w http.ResponseWriter) {
	h := w.Header()
	if a.cookie != "" {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: a.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	}
	if a.location != "" {
		h.Set("Location", a.location)
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	if a.json != "" {
		h.Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.html+a.json) // the customer may have gone
}

// control is what the benchmark asks.
func (s *shop) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /counters", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = json.NewEncoder(w).Encode(s.counted)
	})
	mux.HandleFunc("GET /begun", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.begun:
			_, _ = io.WriteString(w, "true")
		case <-r.Context().Done():
		}
	})
	return mux
}
