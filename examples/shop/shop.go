package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// atTheTill is how long an order has a till for itself.
	atTheTill = 50 * time.Millisecond
	// password is that of all customers.
	password = "test"
	// tokenPrefix and the customer's address are the token of a customer.
	tokenPrefix = "customer-"
	// bodyLimit bounds what is read of a request, in bytes.
	bodyLimit = 1 << 16
	mostTills = 1000
)

// newShop returns a shop with so many tills.
func newShop(tills int) (http.Handler, error) {
	if tills < 1 || tills > mostTills {
		return nil, fmt.Errorf("-tills %d: must be from 1 to %d", tills, mostTills)
	}
	s := shop{tills: make(chan struct{}, tills)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /products", products)
	mux.HandleFunc("POST /login", login)
	mux.HandleFunc("POST /orders", s.order)
	return mux, nil
}

type shop struct {
	// tills has an element for each till in use.
	tills chan struct{}
}

type product struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

func products(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, []product{{1, "book"}, {2, "lamp"}, {3, "chair"}})
}

// login gives a token for the right password.
func login(w http.ResponseWriter, r *http.Request) {
	var who struct{ Email, Password string }
	if !read(w, r, &who) {
		return
	}
	if who.Email == "" || who.Password != password {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "wrong email or password"})
		return
	}
	answer(w, http.StatusOK, map[string]string{"token": tokenPrefix + who.Email})
}

// order takes a till, as soon as one is free, for as long as an order takes.
func (s shop) order(w http.ResponseWriter, r *http.Request) {
	email, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "+tokenPrefix)
	if !ok {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "log in first"})
		return
	}
	var wanted struct{ Product int }
	if !read(w, r, &wanted) {
		return
	}
	select {
	case s.tills <- struct{}{}:
		defer func() { <-s.tills }()
	case <-r.Context().Done():
		return
	}
	select {
	case <-time.After(atTheTill):
		answer(w, http.StatusCreated, map[string]any{"product": wanted.Product, "for": email})
	case <-r.Context().Done():
	}
}

// read decodes a body, and answers if there is no valid one.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyLimit)).Decode(into)
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": "the body is no valid JSON"})
	}
	return err == nil
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone
}
