package redis

import (
	"context"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redisconn"
)

// lookups batches concurrent lookups of keys. With 64 callers on one core an MGET
// carries about 20 keys, and a lookup costs a fifth of a GET of its own.
type lookups struct {
	calls *redisconn.Batcher[string, reading]
}

// lookup is that of one key.
type lookup = redisconn.Call[string, reading]

// reading is the value of a key, nil where it is not there, and the generation of
// negative entries at that time.
type reading struct {
	value      any
	generation string
}

// text returns the value, and whether there is one.
func (r reading) text() (value string, found bool, err error) {
	if r.value == nil {
		return "", false, nil
	}
	value, ok := r.value.(string)
	if !ok {
		return "", false, fmt.Errorf("value is a %T, want a text", r.value)
	}
	return value, true, nil
}

// newLookups takes what returns the value of each key, and nil for one that is
// not there. It must return in bounded time.
func newLookups(fetch func(keys []string) ([]any, error)) lookups {
	return lookups{redisconn.NewBatcher(func(batch []*lookup) { answer(batch, fetch) })}
}

// get returns the value of a key, whether there is one, and the generation.
func (s lookups) get(ctx context.Context, key string) (value string, found bool, generation string, err error) {
	got, err := s.calls.Ask(ctx, key)
	if err == nil {
		value, found, err = got.text()
	}
	if err != nil {
		return "", false, "", fmt.Errorf("look up %s: %w", key, err)
	}
	return value, found, got.generation, nil
}

// answer asks for the generation with the keys: it is not newer than what the store
// is asked for afterwards.
func answer(batch []*lookup, fetch func(keys []string) ([]any, error)) {
	keys := make([]string, len(batch), len(batch)+1)
	for i, l := range batch {
		keys[i] = l.Question
	}
	values, err := fetch(append(keys, generationKey))
	if err == nil && len(values) != len(batch)+1 {
		err = fmt.Errorf("redis answered %d keys with %d values", len(batch)+1, len(values))
	}
	generation := ""
	if err == nil {
		generation, _, err = reading{value: values[len(batch)]}.text()
	}
	for i, l := range batch {
		if l.Err = err; err == nil {
			l.Answer = reading{values[i], generation}
		}
	}
}
