package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// customer keeps what the shop said last.
type customer struct {
	shop    *shop
	session string
	said    *httptest.ResponseRecorder
}

// ask sends a request as a browser does, and returns its status.
func (c *customer) ask(method, path, form string) int {
	r := httptest.NewRequest(method, path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.session != "" {
		r.AddCookie(&http.Cookie{Name: cookie, Value: c.session})
	}
	c.said = httptest.NewRecorder()
	c.shop.ServeHTTP(c.said, r)
	for _, set := range c.said.Result().Cookies() {
		c.session = set.Value
	}
	return c.said.Code
}

// token is the one of the form that the shop showed last.
func (c *customer) token() string {
	return regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(c.said.Body.String())[1]
}

func (c *customer) logIn(t *testing.T) {
	t.Helper()
	same.As(t, "form", http.StatusOK, c.ask("GET", "/login", ""))
	same.As(t, "login", http.StatusSeeOther, c.ask("POST", "/login", "email=a@b&csrf="+c.token()))
}

func TestAPurchaseIsCountedByKind(t *testing.T) {
	c := customer{shop: newShop()}
	before := groundtruth.Now()
	c.logIn(t)
	same.As(t, "where to", "/", c.said.Header().Get("Location"))
	same.As(t, "home", http.StatusOK, c.ask("GET", "/", ""))
	same.As(t, "search", http.StatusOK, c.ask("GET", "/search?q=chair", ""))
	var found struct {
		Products []struct {
			ID   int
			Name string
		}
	}
	must.Succeed(t, json.Unmarshal(c.said.Body.Bytes(), &found))
	if len(found.Products) != perWord || found.Products[0].Name != "chair no. 1" {
		t.Fatalf("found %+v", found)
	}
	same.As(t, "cart", http.StatusOK, c.ask("POST", "/cart", fmt.Sprint("product=", found.Products[0].ID)))
	same.As(t, "checkout", http.StatusOK, c.ask("POST", "/checkout", ""))
	same.As(t, "order", `{"order":1}`, c.said.Body.String())
	for _, want := range []string{`{"paid":false}`, `{"paid":false}`, `{"paid":true}`} {
		same.As(t, "look", http.StatusOK, c.ask("GET", "/orders/1", ""))
		same.As(t, "state", want, c.said.Body.String())
	}
	got := c.shop.counted
	same.As(t, "kinds", map[string]int64{
		"GET /login": 1, "POST /login": 1, "GET /{$}": 1, "GET /search": 1, "POST /cart": 1, "POST /checkout": 1, "GET /orders/{id}": 2, paid: 1,
	}, got.Routes)
	if got.Requests != 9 || got.Answered != 9 || got.First < before || got.Last <= got.First || got.Last > groundtruth.Now() {
		t.Errorf("counted %+v from %d", got, before)
	}
	if len(c.shop.sessions) != 0 {
		t.Errorf("%d sessions are left after the purchase", len(c.shop.sessions))
	}
}

func TestWhatIsNoPurchaseIsRefused(t *testing.T) {
	chair := catalogue(words)["chair"].first
	tests := map[string]struct {
		before             []string // requests of a customer who is logged in, unless the first is "stranger"
		method, path, form string
		want               int
	}{
		"home, not logged in":            {[]string{"stranger"}, "GET", "/", "", 401},
		"search, not logged in":          {[]string{"stranger"}, "GET", "/search?q=chair", "", 401},
		"cart, not logged in":            {[]string{"stranger"}, "POST", "/cart", "product=1", 401},
		"checkout, not logged in":        {[]string{"stranger"}, "POST", "/checkout", "", 401},
		"login without a session":        {[]string{"stranger"}, "POST", "/login", "email=a@b&csrf=x", 403},
		"login without session or token": {[]string{"stranger"}, "POST", "/login", "email=a@b&csrf=", 403},
		"login with a wrong token":       {nil, "POST", "/login", "email=a@b&csrf=x", 403},
		"login without a token":          {nil, "POST", "/login", "email=a@b", 403},
		"a word that nothing has":        {nil, "GET", "/search?q=%00", "", 404},
		"no word":                        {nil, "GET", "/search", "", 404},
		"a product without a search":     {nil, "POST", "/cart", fmt.Sprint("product=", chair), 400},
		"a product of another search":    {[]string{"GET /search?q=chair"}, "POST", "/cart", fmt.Sprint("product=", chair+perWord), 400},
		"a product that is no number":    {[]string{"GET /search?q=chair"}, "POST", "/cart", "product=null", 400},
		"checkout of an empty cart":      {[]string{"GET /search?q=chair"}, "POST", "/checkout", "", 409},
		"an order before there is one":   {nil, "GET", "/orders/0", "", 404},
		"the order of another user": {[]string{"GET /search?q=chair", fmt.Sprint("POST /cart product=", chair), "POST /checkout"},
			"GET", "/orders/2", "", 404},
		"a huge form":    {nil, "POST", "/cart", "product=" + strings.Repeat("1", bodyLimit), 400},
		"no such page":   {nil, "GET", "/admin", "", 404},
		"another method": {nil, "PUT", "/cart", "", 404},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := customer{shop: newShop()}
			if len(tt.before) == 0 || tt.before[0] != "stranger" {
				c.logIn(t)
				for _, r := range tt.before {
					parts := append(strings.Fields(r), "")
					same.As(t, r, http.StatusOK, c.ask(parts[0], parts[1], parts[2]))
				}
			}
			before := c.shop.counted
			same.As(t, "status", tt.want, c.ask(tt.method, tt.path, tt.form))
			if got := c.shop.counted; got.Requests != before.Requests+1 || got.Answered != before.Answered {
				t.Errorf("counted %+v, before %+v; want one more request, refused", got, before)
			}
		})
	}
}

// The first request ends the wait for it.
func TestTheShopTellsWhenTheFirstRequestCame(t *testing.T) {
	c := customer{shop: newShop()}
	c.ask("GET", "/login", "")
	for path, want := range map[string]string{"/begun": "true", "/counters": `"requests":1,"answered":1`} {
		w := httptest.NewRecorder()
		c.shop.control().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s = %d %s, want %s", path, w.Code, w.Body, want)
		}
	}
	same.As(t, "counted after the questions", int64(1), c.shop.counted.Requests)
}
