package controlplane

// auditedNamespace is that of the operator.
const auditedNamespace = "loadtest-system"

// auditPolicy has the API server note what the accounts of the operator's namespace ask
// it for, without what they send and get.
func auditPolicy() map[string]any {
	return map[string]any{
		"apiVersion": "audit.k8s.io/v1",
		"kind":       "Policy",
		"rules": []any{
			map[string]any{
				"level":      "Metadata",
				"userGroups": []any{"system:serviceaccounts:" + auditedNamespace},
				// What came of a request is known later; a watch may never end.
				"omitStages": []any{"RequestReceived"},
			},
			map[string]any{"level": "None"},
		},
	}
}
