// Package apiserver gives tests a real kube-apiserver with the CRD of this
// repository installed, and a namespace for each test.
//
//	func TestMain(m *testing.M) { apiserver.Start(m) }
//
//	func TestSomething(t *testing.T) {
//		c, ns := apiserver.Client(t), apiserver.Namespace(t)
//		…
//	}
//
// There is one server for each package under test: an etcd and a kube-apiserver, started
// by controller-runtime's envtest from the programs in the folder that KUBEBUILDER_ASSETS
// names. To start and to stop them takes 3 s of processor time, for which tests of one
// package cannot disturb those of another. CRDs of others, for tests that need them, are
// those of the modules that hack/crds pins. No controller runs in it: Jobs get no pods, and
// a deleted namespace stays, which is why a namespace is never used twice.
//
// Where the programs are missing the tests fail; they are never skipped.
//
// It is imported by tests only, and may import api and nothing else of this
// module.
package apiserver
