package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	folder := flag.String("folder", "/counts", "`folder` of the counts")
	address := flag.String("address", ":8080", "`address` of the target")
	control := flag.String("control", ":8081", "`address` of counts and modes")
	first := flag.String("mode", string(ok), "`mode` to begin in: ok, wrong, hang or refuse")
	flag.Parse()
	t := &target{
		counts: counts{folder: *folder},
		listen: func() (net.Listener, error) { return net.Listen("tcp", *address) },
		exit:   func() { os.Exit(1) },
	}
	if err := t.set(mode(*first)); err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: *control, Handler: t.control(), ReadHeaderTimeout: time.Minute}
	log.Fatal(server.ListenAndServe())
}
