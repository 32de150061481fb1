package policy

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

const (
	// defaultWait and maxWait are how long a finished LoadTest is kept beyond its time to
	// live for its results.
	defaultWait = time.Hour
	maxWait     = 168 * time.Hour
	// maxPrefix leaves room in a key of 1024 bytes for a namespace, a name and a UID.
	maxPrefix = 256
)

// Results is what becomes of the results of finished runs. The zero value is nothing.
type Results struct {
	// Archived says that they are kept beyond their LoadTest, Announced that verdicts are
	// announced.
	Archived, Announced bool
	// Unknown says that the configuration, which may have them kept, could not be read.
	Unknown bool
	// Wait is how long a LoadTest is kept for it beyond its time to live, at most.
	Wait time.Duration
}

// Results is what becomes of the results of finished runs.
func (p *Policy) Results() Results {
	r := Results{Unknown: p.badConfig != nil, Wait: defaultWait}
	c := p.config.Results
	if c == nil {
		return r
	}
	r.Archived, r.Announced = c.ObjectStore != nil || c.Volume != nil, c.Webhook != nil
	if c.Wait != nil {
		r.Wait = c.Wait.Duration
	}
	return r
}

// Destinations are where results are kept and verdicts are announced; nil: nowhere.
func (p *Policy) Destinations() *config.Results { return p.config.Results }

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]{0,64}$`)
	prefixPath = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)
)

func checkResults(c *config.Results) error {
	switch {
	case c == nil:
		return nil
	case c.ObjectStore != nil && c.Volume != nil:
		return fmt.Errorf("results: objectStore and volume exclude each other: give one of them")
	case c.Wait != nil && (c.Wait.Duration <= 0 || c.Wait.Duration > maxWait):
		return fmt.Errorf("results.wait: %s must be more than 0s and at most 168h", c.Wait.Duration)
	}
	if s := c.ObjectStore; s != nil {
		if err := checkObjectStore(s); err != nil {
			return fmt.Errorf("results.objectStore.%w", err)
		}
	}
	if v := c.Volume; v != nil {
		if err := checkPrefix(v.Prefix); err != nil {
			return fmt.Errorf("results.volume.%w", err)
		}
	}
	if w := c.Webhook; w != nil {
		if _, err := readURL(w.URL); err != nil {
			return fmt.Errorf("results.webhook.url: %w", err)
		}
	}
	return nil
}

func checkObjectStore(s *config.ObjectStore) error {
	endpoint, err := readURL(s.Endpoint)
	switch {
	case err != nil:
		return fmt.Errorf("endpoint: %w", err)
	case strings.Trim(endpoint.Path, "/") != "" || endpoint.RawQuery != "":
		return fmt.Errorf("endpoint: must be a scheme, a host and a port: put the bucket into bucket, and the beginning of the keys into prefix")
	case !bucketName.MatchString(s.Bucket):
		return fmt.Errorf("bucket: %q is not a name of a bucket: use 3 to 63 lower-case letters, digits, dots and hyphens", s.Bucket)
	case !regionName.MatchString(s.Region):
		return fmt.Errorf("region: %q must be of lower-case letters, digits and hyphens, such as eu-central-1", s.Region)
	}
	return checkPrefix(s.Prefix)
}

// checkPrefix refuses what leads out of a folder.
func checkPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	if len(prefix) > maxPrefix || !prefixPath.MatchString(prefix) || slices.ContainsFunc(strings.Split(prefix, "/"), isDots) {
		return fmt.Errorf("prefix: %q must be names of letters, digits, dots, hyphens and underscores between slashes, but not . or .., with at most %d bytes", prefix, maxPrefix)
	}
	return nil
}

func isDots(name string) bool { return name == "." || name == ".." }

// readURL reads the URL of an HTTP server. Its errors do not repeat it: it may have a
// password in the wrong place.
func readURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("must be a URL of http or https, such as https://host.example.com")
	case u.User != nil:
		return nil, fmt.Errorf("must not have a user or a password: put keys into the Secret that is mounted in the operator's pods")
	case u.Fragment != "":
		return nil, fmt.Errorf("must not have a fragment")
	}
	return u, nil
}
