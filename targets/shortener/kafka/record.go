package kafka

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// record is the JSON value of a record, for others to read as well.
type record struct {
	ID   string    `json:"id"`
	Code string    `json:"code"`
	At   time.Time `json:"at"`
}

func encode(c shortener.Click) ([]byte, error) {
	value, err := json.Marshal(record(c))
	if err != nil {
		return nil, fmt.Errorf("encode click: %w", err)
	}
	return value, nil
}

func decode(value []byte) (shortener.Click, error) {
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return shortener.Click{}, fmt.Errorf("decode click: %w", err)
	}
	c := shortener.Click(r)
	return c, c.Validate()
}
