// Command shop is a small web shop to test: the target of docs/first-half-hour.md, for a
// reader who has no Service at hand. A customer logs in, looks at the products and orders one.
// An order takes a till for 50 ms. With one till (the default) it takes no more than 20 orders a
// second, and all others wait in line; that is the limit that the page's LoadTest finds.
//
// Nothing is stored. Its test types the commands of the page.
package main
