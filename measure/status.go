package measure

// MinStatus and MaxStatus bound what a response may have for a status code.
const (
	MinStatus = 100
	MaxStatus = 999
)

// StatusCodes counts whole responses by their status code.
type StatusCodes map[int]int64

// Sum is how many responses there are.
func (c StatusCodes) Sum() int64 {
	var sum int64
	for _, n := range c {
		sum += n
	}
	return sum
}
