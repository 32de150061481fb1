package why

import (
	"fmt"
	"math/big"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

const (
	// atLimit is the part of a limit from which on it counts as reached, in percent: a container
	// that is held at its limit is read a little below it.
	atLimit = 95
	// muchLess is the part of a limit up to which what waits is not waiting for it.
	muchLess = 50
	// slower is by how much higher the 95th percentile must be than it was with any load that was kept,
	// in percent of that.
	slower = 150
)

// outOfMemory are the containers that were ended for their use of memory.
func (r Run) outOfMemory() (list []finding) {
	for i := range used(r.Broke) {
		c := &used(r.Broke)[i]
		if !c.OutOfMemory {
			continue
		}
		so, known := r.below(func(step *v1beta1.StepStatus) (so, known bool) {
			of := named(step, c.Name)
			return of != nil && of.OutOfMemory, usage(step) != nil
		})
		if so {
			continue
		}
		what := fmt.Sprintf("container %s of %s was ended for its use of memory", c.Name, r.Service)
		if c.MemoryLimit != "" {
			what += " (its limit is " + c.MemoryLimit + ")"
		}
		list = append(list, finding{what, known})
	}
	return list
}

// processors are the containers whose processors were at their limit.
func (r Run) processors() (list []finding) {
	for i := range used(r.Broke) {
		c := &used(r.Broke)[i]
		if so, _ := isAtLimit(c); !so {
			continue
		}
		so, known := r.below(func(step *v1beta1.StepStatus) (so, known bool) { return isAtLimit(named(step, c.Name)) })
		if so {
			continue
		}
		what := fmt.Sprintf("%s is at its limit of %s", r.cpuOf(c), c.CPULimit)
		if n := pods(r.Broke); n > 1 {
			what += fmt.Sprintf(" in the busiest of %d pods", n)
		}
		list = append(list, finding{what, known})
	}
	return list
}

// idle says that no container used much of its processors, while the responses took longer or more
// and more requests were outstanding; empty: that is not so, or not known.
func (r Run) idle() string {
	if !r.isSlower() && !r.Broke.Result.Outstanding.Grows() {
		return ""
	}
	var highest *v1beta1.ContainerUsage
	most := new(big.Rat)
	for i := range used(r.Broke) {
		c := &used(r.Broke)[i]
		part := percentOf(c.MostCPU, c.CPULimit)
		if part == nil || part.Cmp(big.NewRat(muchLess, 1)) > 0 {
			return ""
		}
		if highest == nil || part.Cmp(most) > 0 {
			highest, most = c, part
		}
	}
	if highest == nil {
		return ""
	}
	return fmt.Sprintf("%s is at most %s%% of its limit of %s", r.cpuOf(highest), roundedUp(most), highest.CPULimit)
}

// isSlower says whether responses took longer than with any load that was kept.
func (r Run) isSlower() bool {
	broke := p95(r.Broke)
	known := false
	for _, step := range r.Kept {
		kept := p95(step)
		if kept > 0 && broke*100 < kept*slower {
			return false
		}
		known = known || kept > 0
	}
	return known
}

// p95 is in microseconds; 0: it is not known.
func p95(step *v1beta1.StepStatus) int64 {
	if step.Result == nil || step.Result.ResponseTime == nil || step.Result.ResponseTime.P95 == nil {
		return 0
	}
	return step.Result.ResponseTime.P95.Microseconds()
}

// cpuOf names the processors of a container, and the container if the pods have several.
func (r Run) cpuOf(c *v1beta1.ContainerUsage) string {
	if len(used(r.Broke)) == 1 {
		return r.Service + "'s CPU"
	}
	return fmt.Sprintf("the CPU of container %s of %s", c.Name, r.Service)
}

func usage(step *v1beta1.StepStatus) *v1beta1.StepUsage {
	if step.Environment == nil {
		return nil
	}
	return step.Environment.Usage
}

// used are the containers of which something was read in a step.
func used(step *v1beta1.StepStatus) []v1beta1.ContainerUsage {
	if u := usage(step); u != nil {
		return u.Containers
	}
	return nil
}

// named is a container in a step; nil: nothing was read of it.
func named(step *v1beta1.StepStatus, name string) *v1beta1.ContainerUsage {
	for i := range used(step) {
		if c := &used(step)[i]; c.Name == name {
			return c
		}
	}
	return nil
}

// pods is how many there were; 0: it is not known.
func pods(step *v1beta1.StepStatus) int32 {
	if after := step.Environment.After; after != nil {
		return after.Pods
	}
	return 0
}

// isAtLimit says whether a container used its limit of processors up.
func isAtLimit(c *v1beta1.ContainerUsage) (so, known bool) {
	if c == nil {
		return false, false
	}
	part := percentOf(c.CPU, c.CPULimit)
	return part != nil && part.Cmp(big.NewRat(atLimit, 1)) >= 0, part != nil
}

// isUsedUp says whether the value of a query was at its limit.
func isUsedUp(q *v1beta1.QueryResult) (so, known bool) {
	value, ok := new(big.Rat).SetString(q.Value)
	limit, hasLimit := new(big.Rat).SetString(q.Limit)
	if !ok || !hasLimit || limit.Sign() <= 0 {
		return false, false
	}
	return value.Mul(value, big.NewRat(100, 1)).Cmp(limit.Mul(limit, big.NewRat(atLimit, 1))) >= 0, true
}

// percentOf is a part of a quantity in percent; nil: one of them is not known.
func percentOf(part, whole string) *big.Rat {
	a, errA := resource.ParseQuantity(part)
	b, errB := resource.ParseQuantity(whole)
	if errA != nil || errB != nil || b.MilliValue() <= 0 {
		return nil
	}
	return big.NewRat(a.MilliValue()*100, b.MilliValue())
}

// roundedUp is a percentage to the next whole one: "at most" holds of it.
func roundedUp(r *big.Rat) string {
	n, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return n.String()
}
