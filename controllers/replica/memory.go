package replica

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
)

const (
	// memoryLimitVariable has the memory limit of the operator's container, in bytes.
	memoryLimitVariable = "CONTAINER_MEMORY_LIMIT"
	// memoryShare is how much of it, in percent, the garbage collector aims at. The rest
	// is for what it does not count: buffers of the kernel, and pages of the program.
	memoryShare = 90
	// defaultMemoryLimit is aimed at where the limit is not known: 90 % of the 512 MiB
	// that the chart gives.
	defaultMemoryLimit = 460 << 20
	// heapGrowth is by how much, in percent of what is in use, the heap may grow until the garbage
	// collector runs. What is in use is small and garbage comes in bursts, as when a list is read,
	// so that half of Go's default costs little processor time.
	heapGrowth = 50
)

// memoryLimit is what the garbage collector is to aim at. Without one the heap may grow
// to twice what is in use, and past the limit of the container.
func memoryLimit(given string) int64 {
	limit, err := strconv.ParseInt(given, 10, 64)
	if err != nil || limit <= 0 || limit > math.MaxInt64/100 {
		return defaultMemoryLimit
	}
	return limit * memoryShare / 100
}

// LimitMemory has the garbage collector aim at the memory limit of the operator's container,
// unless $GOMEMLIMIT is set, and run when the heap has grown by heapGrowth, unless $GOGC is.
func LimitMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(os.Getenv(memoryLimitVariable)))
	}
}
