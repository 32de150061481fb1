package ratelimiter

import (
	"fmt"
	"slices"
	"strings"
)

// Strategy names a way in which replicas share a bucket.
type Strategy string

const (
	// Hash reads the bucket, computes, and writes it back, in separate round
	// trips and by the replica's clock in whole seconds. Two replicas that
	// read the same state both spend the same token: it grants too much under
	// any concurrency. It is here to be caught.
	Hash Strategy = "hash"
	// Transaction does the same optimistically: a write that would overwrite a
	// concurrent change is refused and tried again, a bounded number of times,
	// and then fails with ErrContended. Time is the store's.
	Transaction Strategy = "transaction"
	// Transaction429 is Transaction as it was published: when its tries are
	// exhausted it denies, with 0 remaining, whatever the bucket holds. It never
	// grants too much; it denies falsely. It is here to be caught.
	Transaction429 Strategy = "transaction-429"
	// Lua does the whole decision in one script inside the store, by the
	// store's clock. It keeps the contract.
	Lua Strategy = "lua"
	// LuaSeconds is Lua by the replica's clock in whole seconds. A burst that
	// straddles the turn of a second is granted a whole second's refill at
	// once: capacity + refill in a few milliseconds. It is here to be caught.
	LuaSeconds Strategy = "lua-seconds"
)

// Strategies returns every strategy.
func Strategies() []Strategy {
	return []Strategy{Hash, Transaction, Transaction429, Lua, LuaSeconds}
}

// ParseStrategy returns the strategy of that name.
func ParseStrategy(name string) (Strategy, error) {
	if s := Strategy(name); slices.Contains(Strategies(), s) {
		return s, nil
	}
	names := make([]string, 0, len(Strategies()))
	for _, s := range Strategies() {
		names = append(names, string(s))
	}
	return "", fmt.Errorf("unknown strategy %q: use one of %s", name, strings.Join(names, ", "))
}
