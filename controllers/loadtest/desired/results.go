package desired

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Results is the ConfigMap that keeps the archive of a step. It goes with its LoadTest.
func Results(lt *v1beta1.LoadTest, name string, packed []byte) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: lt.Namespace, Labels: labels(lt),
			OwnerReferences: owners(lt),
		},
		Immutable:  ptr.To(true),
		BinaryData: map[string][]byte{archive.Key: packed},
	}
}
