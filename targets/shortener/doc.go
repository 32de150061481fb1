// Package shortener is the domain of a URL shortener.
package shortener
