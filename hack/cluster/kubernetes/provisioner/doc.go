// Package provisioner makes a volume for each claim of the cluster's storage
// class, and removes it with its files when the claim is gone.
//
//	informers of claims and volumes ─▶ decide ─▶ make and remove folders and volumes
//
// A volume is a folder of the host, and all nodes are processes of that host:
// each of them has the volume, so that a pod may move to another node and find
// its data. The volumes are of the type local and not hostPath, so that kubelets
// give their files to the pod's group, as they do with a real disk.
//
// decide is pure.
package provisioner
