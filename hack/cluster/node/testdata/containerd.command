unshare
--mount
sh
-c
set -e
mount --bind '/run/loadtest-cluster/node-2/shims' /run/containerd
mount --bind '/state/node-2/attachments' /var/lib/cni
mount --bind '/state/node-2/kubelet' /var/lib/kubelet
mount --bind '/state/node-2/log-links' /var/log/containers
mount --make-rshared /
exec "$@"

sh
containerd
--config
c.toml
