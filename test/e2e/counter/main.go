package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	folder := flag.String("folder", "/counts", "`folder` of the counts")
	plain := flag.String("address", ":8080", "`address` of the target")
	secure := flag.String("secure", ":8443", "`address` of the target over TLS")
	control := flag.String("control", ":8081", "`address` of counts and modes")
	first := flag.String("mode", string(ok), "`mode` to begin in: ok, wrong, hang, refuse or drain")
	flag.Parse()
	t := &target{
		counts: counts{folder: *folder},
		plain:  *plain,
		secure: *secure,
		exit:   func() { os.Exit(1) },
	}
	if err := t.set(mode(*first)); err != nil {
		log.Fatal(err)
	}
	go t.times.watch()
	server := &http.Server{Addr: *control, Handler: t.control(), ReadHeaderTimeout: time.Minute}
	log.Fatal(server.ListenAndServe())
}
