package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

func main() {
	target, err := net.Listen("tcp", ":8080")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(serve(target)) }()
	callee, err := net.Listen("tcp", ":8082")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(serveCalls(callee)) }()
	all := &tallies{}
	if to := os.Getenv("COORDINATOR"); to != "" {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(os.Getenv("CA")))
		a := &attacked{
			to: to, token: os.Getenv("TOKEN"), run: os.Getenv("RUN"),
			trust: &tls.Config{RootCAs: roots, ServerName: workerv1.ServerName, MinVersion: tls.VersionTLS13},
		}
		for name, one := range a.attacks() {
			one.begin(context.Background(), name, all)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /attacks", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(all.copied()) // what fails is the connection
	})
	control := &http.Server{Addr: ":8081", Handler: mux, ReadHeaderTimeout: time.Minute}
	log.Fatal(control.ListenAndServe())
}
