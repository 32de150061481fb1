package identity

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// podRef is a pod that a token says to be bound to.
type podRef struct{ namespace, name, uid string }

// claims are those of a service account's token, as the API server signs them.
type claims struct {
	Audience   audience `json:"aud"`
	Expiry     int64    `json:"exp"`
	Kubernetes struct {
		Namespace string `json:"namespace"`
		Pod       struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"pod"`
	} `json:"kubernetes.io"`
}

// audience is one text or a list of them.
type audience []string

func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}

// clockLeeway is how far the API server's clock may be behind ours.
const clockLeeway = time.Minute

// claimedPod is the pod that a token names, of which nothing is verified.
func claimedPod(token string, now time.Time) (podRef, error) {
	c, ok := readClaims(token)
	if !ok {
		return podRef{}, refuse("the token is not a service account token")
	}
	pod := podRef{namespace: c.Kubernetes.Namespace, name: c.Kubernetes.Pod.Name, uid: c.Kubernetes.Pod.UID}
	switch {
	case !slices.Contains(c.Audience, workerv1.Audience):
		return podRef{}, refuse("the token is not for audience %s", workerv1.Audience)
	case time.Unix(c.Expiry, 0).Add(clockLeeway).Before(now):
		return podRef{}, refuse("the token has expired")
	case pod.namespace == "" || pod.name == "" || pod.uid == "":
		return podRef{}, refuse("the token is not bound to a pod")
	}
	return pod, nil
}

func readClaims(token string) (c claims, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, false
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return c, false
	}
	return c, json.Unmarshal(body, &c) == nil
}
