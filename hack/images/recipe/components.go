package recipe

// argocd is Argo CD's one binary by its several names, and the git that its repo server
// calls. Signatures of commits cannot be verified: there is no gpg.
func argocd() *Debian {
	return &Debian{
		Packages:   []string{"git", "dash", "coreutils"},
		Command:    []string{"argocd-repo-server"},
		Writable:   []string{"home/argocd"},
		Components: []string{"argocd"},
	}
}

// prometheus is a Prometheus as its operator starts one: with all that it needs in its
// arguments. The operator, and the reloader beside each Prometheus, are in the same image.
// Debian's Prometheus cannot discover what runs in Kubernetes; this one can, and has no pages.
func prometheus() *Debian {
	return &Debian{
		Packages:   []string{"dash", "coreutils"},
		Command:    []string{"prometheus"},
		Writable:   []string{"prometheus"},
		Components: []string{"prometheus", "prometheus-operator"},
		// Where the operator looks for it.
		Links: map[string]string{"bin/prometheus-config-reloader": "/usr/local/bin/prometheus-config-reloader"},
	}
}
