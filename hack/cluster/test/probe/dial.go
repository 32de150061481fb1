package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// timeout of an answer between two pods of one host: a firewall that drops
// packets gives none.
const timeout = 2 * time.Second

// dial writes whether a connection can be opened. A closed port is no error.
func dial(address string, out io.Writer) error {
	conn, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		fmt.Fprintln(out, "closed")
		return nil
	}
	fmt.Fprintln(out, "open")
	return conn.Close()
}

// hold opens a connection and sends requests over it. It writes "open" at the
// first answer, and "cut" when an answer is missing.
func hold(address string, out io.Writer) error {
	conn, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for first := true; ; first = false {
		if err := ask(conn, answers, address); err != nil {
			fmt.Fprintln(out, "cut")
			return nil
		}
		if first {
			fmt.Fprintln(out, "open")
		}
		time.Sleep(timeout / 20) // between two questions, so as not to be load
	}
}

func ask(conn net.Conn, answers *bufio.Reader, host string) error {
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host); err != nil {
		return err
	}
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
