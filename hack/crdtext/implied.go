package main

import (
	"fmt"
	"math"
	"regexp"
)

// dropImplied leaves out of a part, and of all below it, what the rest of it implies.
func (p part) dropImplied() error {
	if isInt32(p.schema) {
		delete(p.schema, "format")
	}
	if p.schema["x-kubernetes-int-or-string"] == true {
		delete(p.schema, "anyOf") // of the two types
	}
	if pattern, ok := p.schema["pattern"].(string); ok && p.schema["minLength"] == 1.0 {
		expression, err := regexp.Compile(pattern)
		if err != nil {
			return fmt.Errorf("%s: pattern: %w", p.path, err)
		}
		if !expression.MatchString("") {
			delete(p.schema, "minLength")
		}
	}
	for _, below := range p.below() {
		if err := below.dropImplied(); err != nil {
			return err
		}
	}
	return nil
}

// isInt32 says whether the bounds of a whole number say that it has room in 32 bits, which
// those who generate a client take a number without a format for.
func isInt32(s schema) bool {
	least, bounded := s["minimum"].(float64)
	most, also := s["maximum"].(float64)
	return s["type"] == "integer" && bounded && also && least >= math.MinInt32 && most <= math.MaxInt32
}
