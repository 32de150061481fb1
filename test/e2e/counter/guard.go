package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// guard issues tokens of OAuth 2.0, which are counted under NAME-token, and takes them, which is counted
// under NAME-guarded. A request for a token without a client is wrong, and so is a request whose token
// is none, or has ended.
type guard struct{ counts *counts }

// tokenMark is in each token, so that it is found where it should not be; tokenKey is that of all
// processes: one takes what another issues.
const (
	tokenMark = "kanari-"
	tokenKey  = "of a test"
)

// serve answers for a token, or behind one.
func (g guard) serve(w http.ResponseWriter, r *http.Request, name, part string) {
	name += "-" + part
	if !nameFormat.MatchString(name) {
		http.Error(w, "the path is no name", http.StatusNotFound)
		return
	}
	if g.counts.add(name, received) != nil {
		panic(http.ErrAbortHandler) // nothing is answered that is not counted
	}
	now := time.Now()
	client, secret, _ := r.BasicAuth()
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case part == "token" && client != "" && secret != "" && r.FormValue("grant_type") == "client_credentials":
		life := number(r.URL.Query().Get("life"))
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{ // what fails is the connection
			"access_token": newToken(now.Add(time.Duration(life) * time.Second)), "token_type": "Bearer", "expires_in": life,
		})
	case part == "guarded" && isGood(token, now):
	default:
		if g.counts.add(name, wrong) != nil {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// newToken is a token with its end, and a seal of that.
func newToken(ends time.Time) string {
	text := strconv.FormatInt(ends.UnixNano(), 10)
	seal := hmac.New(sha256.New, []byte(tokenKey))
	seal.Write([]byte(text))
	return tokenMark + text + "." + hex.EncodeToString(seal.Sum(nil))
}

// isGood says whether a token was issued, and has not ended.
func isGood(token string, now time.Time) bool {
	text, _, _ := strings.Cut(strings.TrimPrefix(token, tokenMark), ".")
	at, err := strconv.ParseInt(text, 10, 64)
	ends := time.Unix(0, at)
	return err == nil && hmac.Equal([]byte(token), []byte(newToken(ends))) && now.Before(ends)
}
