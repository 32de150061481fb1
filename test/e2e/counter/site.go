package main

import (
	"crypto/rand"
	"fmt"
	"net/http"
)

// site is a login as browsers do it, whose parts are counted under NAME-page, NAME-login and NAME-home.
// A login with another token than the one of its page, or a home without a login, is wrong.
type site struct{ counts *counts }

// serve answers a part of the site.
func (s site) serve(w http.ResponseWriter, r *http.Request, name, part string) {
	name += "-" + part
	if !nameFormat.MatchString(name) {
		http.Error(w, "the path is no name", http.StatusNotFound)
		return
	}
	if s.counts.add(name, received) != nil {
		panic(http.ErrAbortHandler) // nothing is answered that is not counted
	}
	if part == "page" {
		writePage(w)
		return
	}
	token, _ := r.Cookie("token")
	session, _ := r.Cookie("session")
	switch {
	case part == "login" && r.Method == http.MethodPost && token != nil && r.FormValue("csrf") == token.Value && r.FormValue("nonce") == "nonce of "+token.Value:
		http.SetCookie(w, &http.Cookie{Name: "session", Value: token.Value, Path: "/"})
		http.Redirect(w, r, "home", http.StatusFound)
	case part == "home" && r.Method == http.MethodGet && token != nil && session != nil && session.Value == token.Value:
	default:
		if s.counts.add(name, wrong) != nil {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusForbidden)
	}
}

// writePage has a token in a cookie, in a field of a form and in a header, no two times the same.
func writePage(w http.ResponseWriter) {
	token := rand.Text()
	http.SetCookie(w, &http.Cookie{Name: "token", Value: token, Path: "/"})
	w.Header().Set("X-Nonce", "nonce of "+token)
	_, _ = fmt.Fprintf(w, `<form method="post" action="login"><input type="hidden" name="csrf" value="%s"></form>`, token) // what fails is the connection
}
