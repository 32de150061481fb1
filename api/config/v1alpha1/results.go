package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Results is where what a run came to is kept beyond its LoadTest, and where its verdict is announced.
// Keys are files of the operator's pods, at a place that this document does not name:
// a right to write the document is none to have another file sent.
type Results struct {
	// objectStore keeps the results in a bucket of an object store with the API of S3.
	ObjectStore *ObjectStore `json:"objectStore,omitempty"`

	// volume keeps them in the volume that is mounted in the operator's pods instead.
	Volume *ResultsVolume `json:"volume,omitempty"`

	// webhook is sent each verdict.
	Webhook *Webhook `json:"webhook,omitempty"`

	// wait is how long a finished LoadTest is kept beyond its ttlSecondsAfterFinished, at
	// most, for its results to be kept and its verdict to be announced. Default 1h, at most 168h.
	Wait *metav1.Duration `json:"wait,omitempty"`
}

// ObjectStore is a bucket. The results of a run are the object
// prefix/NAMESPACE/NAME/UID.json.gz.
type ObjectStore struct {
	// endpoint is the URL of the store, with its port if it is another than the scheme's.
	// Example: "https://s3.eu-central-1.amazonaws.com".
	Endpoint string `json:"endpoint"`

	// bucket is one that exists. Example: load-tests.
	Bucket string `json:"bucket"`

	// prefix begins the key of each object. Example: cluster-a.
	Prefix string `json:"prefix,omitempty"`

	// region is the one that requests are signed for. Default us-east-1.
	Region string `json:"region,omitempty"`
}

// ResultsVolume is the folder for results of the operator's pods.
type ResultsVolume struct {
	// prefix begins the path of each file. Example: cluster-a.
	Prefix string `json:"prefix,omitempty"`
}

// Webhook is a URL that verdicts are sent to.
type Webhook struct {
	// url gets a POST for each LoadTest that finishes. It is no place for a secret, since
	// it stands in a ConfigMap. Example: "https://ci.example.com/hooks/loadtest".
	URL string `json:"url"`
}
