package targetstate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// MaxUsageSize is what the usage of a step takes at most, in bytes of JSON.
	MaxUsageSize = 380 + archive.MaxUsage*320
	// maxUsed is how many containers of a step are counted, and mostUsedPods how many pods.
	maxUsed, mostUsedPods = 16, 100
	// clocks is by how much the clock of a node may differ from the operator's.
	clocks = time.Second
	// outOfMemory is the reason with which the kubelet says that a container was ended for its
	// use of memory.
	outOfMemory = "OOMKilled"
)

// Use is a reading: what a container of a pod used between two instants.
type Use struct {
	Pod, Container string
	From, To       time.Time
	// NanoCPU is the mean of that time, in billionths of a processor, and Memory what was in
	// use at its end, in bytes.
	NanoCPU, Memory int64
}

// Usage adds up the readings of a step. The zero value has none. It keeps at most
// archive.MaxUsagePoints for each of 16 containers, however long the step is.
type Usage struct {
	// Problem is why a reading failed; empty: none did, or a later one did not.
	Problem string

	// latest is when the latest reading of a pod ended, others how many readings cover other
	// time than the step's, and width how much the latest of them covers.
	latest     map[string]time.Time
	others     int
	width      time.Duration
	containers map[string]*used
}

// used is what a container used in all pods.
type used struct {
	readings              int32
	pods                  map[string]mean
	mostNano, mostMemory  int64
	points                []archive.UsagePoint
	cpuLimit, memoryLimit int64
	outOfMemory           bool
}

type mean struct{ sum, n int64 }

// Add adds what a list of readings has of the time between two instants, the later of which
// may not be known (zero): readings that were added before, and readings of other times, are
// left out.
func (u *Usage) Add(list []Use, from, to time.Time) {
	if u.latest == nil {
		u.latest, u.containers = map[string]time.Time{}, map[string]*used{}
	}
	points, ends := map[string]archive.UsagePoint{}, map[string]time.Time{}
	for _, use := range list {
		last, known := u.latest[use.Pod]
		if known && !use.To.After(last) || !known && len(u.latest)+len(ends) >= mostUsedPods {
			continue
		}
		ends[use.Pod] = use.To
		if use.From.Before(from.Add(-clocks)) || !to.IsZero() && use.To.After(to.Add(clocks)) || use.To.Before(use.From) {
			u.others++
			u.width = use.To.Sub(use.From)
			continue
		}
		if c := u.container(use.Container); c != nil {
			c.add(use)
			points[use.Container] = joinedPoint(points[use.Container], use, from)
		}
	}
	maps.Copy(u.latest, ends)
	for name, p := range points {
		u.containers[name].addPoint(p)
	}
}

// container is one of a name; nil: there are too many.
func (u *Usage) container(name string) *used {
	c := u.containers[name]
	if c == nil && len(u.containers) < maxUsed {
		c = &used{pods: map[string]mean{}}
		u.containers[name] = c
	}
	return c
}

func (c *used) add(use Use) {
	m := c.pods[use.Pod]
	c.pods[use.Pod] = mean{m.sum + use.NanoCPU, m.n + 1}
	c.readings++
	c.mostNano, c.mostMemory = max(c.mostNano, use.NanoCPU), max(c.mostMemory, use.Memory)
}

// joinedPoint is the highest of the pods that were read at once. Its times count from the
// beginning of the step's window.
func joinedPoint(p archive.UsagePoint, use Use, from time.Time) archive.UsagePoint {
	begin, end := max(0, use.From.Sub(from).Milliseconds()), max(0, use.To.Sub(from).Milliseconds())
	if p == (archive.UsagePoint{}) {
		p.FromMillis = begin
	}
	return archive.UsagePoint{
		FromMillis: min(p.FromMillis, begin), ToMillis: max(p.ToMillis, end),
		CPUMillis: max(p.CPUMillis, millis(use.NanoCPU)), MemoryBytes: max(p.MemoryBytes, use.Memory),
	}
}

// addPoint joins two and two points where there is no room for another.
func (c *used) addPoint(p archive.UsagePoint) {
	if len(c.points) == archive.MaxUsagePoints {
		var wide []archive.UsagePoint
		for two := range slices.Chunk(c.points, 2) {
			a, b := two[0], two[len(two)-1]
			wide = append(wide, archive.UsagePoint{
				FromMillis: a.FromMillis, ToMillis: b.ToMillis,
				CPUMillis: max(a.CPUMillis, b.CPUMillis), MemoryBytes: max(a.MemoryBytes, b.MemoryBytes),
			})
		}
		c.points = wide
	}
	c.points = append(c.points, p)
}

// millis are thousandths of a processor, of billionths.
func millis(nano int64) int64 { return (nano + 500_000) / 1_000_000 }

// mean is that of the pod with the highest, in billionths of a processor.
func (c *used) mean() (highest int64) {
	for _, m := range c.pods {
		highest = max(highest, m.sum/m.n)
	}
	return highest
}

// limited is the usage with the limits of the pods that were read, and with the containers that
// were ended for their use of memory since the step began.
func (s *Seen) limited(step *v1beta1.StepStatus) *Usage {
	u, began := s.Usage.Clone(), time.Time{}
	if step.StartTime != nil {
		began = step.StartTime.Truncate(time.Second) // a time of the API has whole seconds
	}
	read := map[string]bool{}
	for i := range s.Pods {
		for _, c := range s.Pods[i].Containers {
			ended := strings.HasPrefix(c.Ended, outOfMemory) && !c.EndedAt.Before(began)
			if ended {
				u.container(c.Name)
			}
			if of := u.containers[c.Name]; of != nil {
				of.outOfMemory = of.outOfMemory || ended
				of.limit(&c, !read[c.Name])
				read[c.Name] = true
			}
		}
	}
	return u
}

// Clone is the usage so far, to which nothing is added any more.
func (u *Usage) Clone() *Usage {
	c := *u
	c.latest, c.containers = nil, map[string]*used{}
	for name, of := range u.containers {
		one := *of
		one.pods, one.points = maps.Clone(of.pods), slices.Clone(of.points)
		c.containers[name] = &one
	}
	return &c
}

// limit takes over the limits of a container of a pod. Limits that differ among the pods are
// not known.
func (c *used) limit(of *Container, first bool) {
	if first {
		c.cpuLimit, c.memoryLimit = of.CPULimit, of.MemoryLimit
	}
	if c.cpuLimit != of.CPULimit {
		c.cpuLimit = 0
	}
	if c.memoryLimit != of.MemoryLimit {
		c.memoryLimit = 0
	}
}

// named are the containers that are told of: those nearest to their limit of processors, and
// before them those that were ended for their use of memory.
func (u *Usage) named() []string {
	names := slices.Collect(maps.Keys(u.containers))
	slices.SortFunc(names, func(a, b string) int {
		x, y := u.containers[a], u.containers[b]
		return cmp.Or(rankOf(y.outOfMemory)-rankOf(x.outOfMemory), cmp.Compare(y.share(), x.share()), cmp.Compare(y.mean(), x.mean()), cmp.Compare(a, b))
	})
	return names[:min(len(names), archive.MaxUsage)]
}

func rankOf(is bool) int {
	if is {
		return 1
	}
	return 0
}

// share is the mean as a share of the limit; 0: there is none.
func (c *used) share() float64 {
	if c.cpuLimit == 0 {
		return 0
	}
	return float64(c.mean()) / float64(c.cpuLimit)
}

// status is what the status has of it.
func (u *Usage) status() *v1beta1.StepUsage {
	s, readings := &v1beta1.StepUsage{}, int32(0)
	for _, name := range u.named() {
		c := u.containers[name]
		readings += c.readings
		of := v1beta1.ContainerUsage{Name: name, Readings: c.readings, OutOfMemory: c.outOfMemory}
		if c.readings > 0 {
			of.CPU, of.MostCPU, of.MostMemory = processors(millis(c.mean())), processors(millis(c.mostNano)), memory(c.mostMemory)
		}
		if c.cpuLimit > 0 {
			of.CPULimit = processors(c.cpuLimit)
		}
		if c.memoryLimit > 0 {
			of.MemoryLimit = memory(c.memoryLimit)
		}
		s.Containers = append(s.Containers, of)
	}
	switch {
	case readings > 0:
	case u.Problem != "":
		s.Problem = text.Clean(u.Problem, maxProblem)
	case u.others > 0:
		s.Problem = fmt.Sprintf("No reading of the resource metrics API covers time of the step alone: each covers %s. Use longer steps.", text.Short(u.width))
	default:
		s.Problem = "The resource metrics API gave no reading while the step ran."
	}
	return s
}

// ArchivedUsage is the course of the usage, for the archive of the step.
func (s *Seen) ArchivedUsage(step *v1beta1.StepStatus) (list []archive.Usage) {
	if s.Usage == nil {
		return nil
	}
	u := s.limited(step)
	for _, name := range u.named() {
		if c := u.containers[name]; len(c.points) > 0 {
			list = append(list, archive.Usage{Container: name, CPULimitMillis: c.cpuLimit, MemoryLimitBytes: c.memoryLimit, Points: c.points})
		}
	}
	return list
}

func processors(millis int64) string {
	return resource.NewMilliQuantity(millis, resource.DecimalSI).String()
}

// memory is a number of bytes to the next whole mebibyte, as limits are written, or less
// precisely where that is long.
func memory(bytes int64) string {
	const mebibyte = 1 << 20
	if bytes%mebibyte != 0 && bytes > 0 {
		bytes += mebibyte - bytes%mebibyte
	}
	return resource.NewQuantity(bytes, resource.BinarySI).String()
}
