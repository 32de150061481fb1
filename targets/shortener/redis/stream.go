package redis

import (
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

const (
	// Stream is the key of the stream of clicks, and Group the name of the
	// consumers that share it.
	Stream = "clicks"
	Group  = "clicks"

	fieldID   = "id"
	fieldCode = "code"
	fieldAt   = "at" // microseconds since 1970
)

// batchSize is how many clicks are stored in one transaction.
const batchSize = 100

func encodeClick(c shortener.Click) *redis.XAddArgs {
	return &redis.XAddArgs{
		Stream: Stream,
		Values: []string{fieldID, c.ID, fieldCode, c.Code, fieldAt, strconv.FormatInt(c.At.UnixMicro(), 10)},
	}
}

func decodeClick(m redis.XMessage) (shortener.Click, error) {
	var fields [3]string
	for i, name := range []string{fieldID, fieldCode, fieldAt} {
		value, ok := m.Values[name].(string)
		if !ok {
			return shortener.Click{}, fmt.Errorf("entry %s has no field %s", m.ID, name)
		}
		fields[i] = value
	}
	micros, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return shortener.Click{}, fmt.Errorf("field %s of entry %s: %w", fieldAt, m.ID, err)
	}
	c := shortener.Click{ID: fields[0], Code: fields[1], At: time.UnixMicro(micros).UTC()}
	if err := c.Validate(); err != nil {
		return shortener.Click{}, fmt.Errorf("entry %s: %w", m.ID, err)
	}
	return c, nil
}
