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
