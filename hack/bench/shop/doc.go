// Command shop is a shop that knows what a purchase is, and counts the requests of each kind. A
// benchmark starts it in a process of its own, and sends it the same purchases by three
// generators.
//
//	GET  /login              a page with a form, whose hidden field csrf has a token; a cookie
//	POST /login              the token and an email: 303 to /
//	GET  /                   a page, for who is logged in
//	GET  /search?q=word      products, as JSON
//	POST /cart               one of the products that were found
//	POST /checkout           {"order": 7}, for who has something in the cart
//	GET  /orders/7           {"paid": false}, and {"paid": true} at the third look
//
// What is wrong is refused and counted as not answered: another token or none, no session, a
// product that was not found, an order of another user. So a generator that leaves out a part of
// the work is not measured beside those that do it.
//
//	shop.yaml  the purchase as a LoadTest
//	shop.js    for k6
//	shop.py    for Locust, which requirements.txt pins
//	words.csv  what all three search for
//
// The first line of output is {"url":…,"control":…}; the process ends with its input. At the
// control address are /counters, and /begun, which is answered after the first request came.
package main
