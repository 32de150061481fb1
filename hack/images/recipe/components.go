package recipe

// argocd is Argo CD's one binary by its several names, and the git that its repo server
// calls. Signatures of commits cannot be verified: there is no gpg.
func argocd() *Debian {
	return &Debian{
		Packages:  []string{"git", "dash", "coreutils"},
		Command:   []string{"argocd-repo-server"},
		Writable:  []string{"home/argocd"},
		Component: "argocd",
	}
}

// prometheusOperator is one program of the Prometheus Operator, whose static binaries need
// nothing beside them.
func prometheusOperator(program string) *Go {
	return &Go{Component: "prometheus-operator", Binary: program}
}

// prometheus is a Prometheus as its operator starts one: with all that it needs in its
// arguments.
func prometheus() *Debian {
	return &Debian{
		Packages: []string{"prometheus", "dash", "coreutils"},
		Command:  []string{"prometheus"},
		Writable: []string{"prometheus"},
	}
}
