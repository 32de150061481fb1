// Package cookie keeps the cookies that one user has of the target, as far as RFC 6265
// concerns a client of one host: name and value, Path, Max-Age, Expires and Secure. A jar
// is small and bounded, and takes no memory while the target sets no cookie. The standard
// library's jar keeps the cookies of any host, in maps, under a lock.
package cookie
