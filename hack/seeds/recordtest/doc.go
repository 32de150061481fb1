// Package recordtest makes results of experiments for tests: of every one, such as they
// are when all is as expected.
package recordtest
