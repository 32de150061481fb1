package audit

import "fmt"

// Count compares what a target has stored with what it acknowledged.
type Count struct {
	// Stored and Acknowledged name the two, such as "clicks" and "redirects".
	Stored, Acknowledged string
	// Got is how many were stored in the run.
	Got  int64
	Want Tally
}

// Err is nil when acknowledged <= stored <= acknowledged + ambiguous.
func (c Count) Err() error {
	switch {
	case c.Got < c.Want.Acknowledged:
		return fmt.Errorf("%s %d: %d of %d %s were lost", c.Stored, c.Got, c.Want.Acknowledged-c.Got, c.Want.Acknowledged, c.Acknowledged)
	case c.Got > c.Want.Acknowledged+c.Want.Ambiguous:
		return fmt.Errorf("%s %d: %d more than %s %d and %d whose end is unknown",
			c.Stored, c.Got, c.Got-c.Want.Acknowledged-c.Want.Ambiguous, c.Acknowledged, c.Want.Acknowledged, c.Want.Ambiguous)
	}
	return nil
}

// String is the comparison in a few words.
func (c Count) String() string {
	switch {
	case c.Err() != nil:
		return c.Err().Error()
	case c.Got == c.Want.Acknowledged:
		return fmt.Sprintf("%s %d = %s %d", c.Stored, c.Got, c.Acknowledged, c.Want.Acknowledged)
	}
	return fmt.Sprintf("%s %d = %s %d + %d of %d whose end is unknown",
		c.Stored, c.Got, c.Acknowledged, c.Want.Acknowledged, c.Got-c.Want.Acknowledged, c.Want.Ambiguous)
}
