// Package judgement has runs whose truth is known beforehand: by the count of the target, by what
// the target was told to do, or by arithmetic. What the status says must be that.
package judgement
