package audit

import "fmt"

// Count compares a target's stored and acknowledged numbers.
type Count struct {
	// Stored and Acknowledged name the two, such as "clicks" and "redirects".
	Stored, Acknowledged string
	// Got is how many were stored in the run.
	Got  int64
	Want Tally
	// Killed says that a pod of what stores was killed in the run.
	Killed bool
}

// Err is nil when acknowledged <= stored <= acknowledged + unknown.
func (c Count) Err() error {
	acknowledged, unknown := c.Want.Acknowledged, c.Want.Unknown(c.Killed)
	switch {
	case c.Got < acknowledged:
		return fmt.Errorf("%s %d: %d of %d %s were lost", c.Stored, c.Got, acknowledged-c.Got, acknowledged, c.Acknowledged)
	case c.Got > acknowledged+unknown:
		_, certain := c.Want.parts(c.Killed)
		if certain != "" {
			certain = "; certainly not stored: " + certain
		}
		return fmt.Errorf("%s %d: %d more than %s %d and %s%s",
			c.Stored, c.Got, c.Got-acknowledged-unknown, c.Acknowledged, acknowledged, c.unknown(), certain)
	}
	return nil
}

// String is the comparison in a few words.
func (c Count) String() string {
	acknowledged := c.Want.Acknowledged
	switch {
	case c.Err() != nil:
		return c.Err().Error()
	case c.Got == acknowledged:
		return fmt.Sprintf("%s %d = %s %d", c.Stored, c.Got, c.Acknowledged, acknowledged)
	}
	return fmt.Sprintf("%s %d = %s %d + %d of %s", c.Stored, c.Got, c.Acknowledged, acknowledged, c.Got-acknowledged, c.unknown())
}

// unknown is how many may have been stored, and why that is not known.
func (c Count) unknown() string {
	n := c.Want.Unknown(c.Killed)
	if n == 0 {
		return "0 unknown"
	}
	parts, _ := c.Want.parts(c.Killed)
	return fmt.Sprintf("%d unknown (%s)", n, parts)
}
