package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// ask sends a request to a shop, and returns the status and the body.
func ask(t *testing.T, shop http.Handler, method, path, token, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	shop.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func TestCustomersLogInAndOrder(t *testing.T) {
	shop, err := newShop(1)
	must.Succeed(t, err)
	for name, tt := range map[string]struct {
		method, path, token, body string
		status                    int
		want                      string
	}{
		"products":                 {"GET", "/products", "", "", 200, `[{"id":1,"name":"book"},{"id":2,"name":"lamp"},{"id":3,"name":"chair"}]`},
		"a login":                  {"POST", "/login", "", `{"email": "ann", "password": "test"}`, 200, `{"token":"customer-ann"}`},
		"a wrong password":         {"POST", "/login", "", `{"email": "ann", "password": "x"}`, 401, `{"error":"wrong email or password"}`},
		"no JSON":                  {"POST", "/login", "", `email=ann`, 400, `{"error":"the body is no valid JSON"}`},
		"a body that is too long":  {"POST", "/login", "", `{"email": "` + strings.Repeat("a", bodyLimit) + `"}`, 400, `{"error":"the body is no valid JSON"}`},
		"an order":                 {"POST", "/orders", "customer-ann", `{"product": 2}`, 201, `{"for":"ann","product":2}`},
		"an order without a login": {"POST", "/orders", "", `{"product": 2}`, 401, `{"error":"log in first"}`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := ask(t, shop, tt.method, tt.path, tt.token, tt.body)
			if status != tt.status || body != tt.want {
				t.Errorf("%d %s, want %d %s", status, body, tt.status, tt.want)
			}
		})
	}
}

// TestTillsLimitOrders sends twelve orders at once: the time that they take is that of the tills.
func TestTillsLimitOrders(t *testing.T) {
	for tills, want := range map[int]time.Duration{1: 12 * atTheTill, 4: 3 * atTheTill} {
		synctest.Test(t, func(t *testing.T) {
			shop, err := newShop(tills)
			must.Succeed(t, err)
			began := time.Now()
			var all sync.WaitGroup
			for range 12 {
				all.Go(func() {
					if status, body := ask(t, shop, "POST", "/orders", "customer-ann", "{}"); status != http.StatusCreated {
						t.Errorf("%d %s", status, body)
					}
				})
			}
			all.Wait()
			same.As(t, "time", want, time.Since(began))
		})
	}
}

func TestShopsWithoutTillsAreRefused(t *testing.T) {
	for _, tills := range []int{-1, 0, 1001} {
		if _, err := newShop(tills); err == nil {
			t.Errorf("a shop with %d tills is opened", tills)
		}
	}
}
