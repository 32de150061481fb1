package enforcer

import "testing"

func TestSelector(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`:                                   true,
		`{matchLabels: {app: db}}`:             true,
		`{matchLabels: {app: db, tier: data}}`: true,
		`{matchLabels: {app: web}}`:            false,
		`{matchLabels: {app: db, none: ""}}`:   false,
		`{matchExpressions: [{key: app, operator: In, values: [web, db]}]}`:                                   true,
		`{matchExpressions: [{key: app, operator: In, values: [web]}]}`:                                       false,
		`{matchExpressions: [{key: none, operator: In, values: [""]}]}`:                                       false,
		`{matchExpressions: [{key: app, operator: NotIn, values: [web]}]}`:                                    true,
		`{matchExpressions: [{key: app, operator: NotIn, values: [db]}]}`:                                     false,
		`{matchExpressions: [{key: none, operator: NotIn, values: [db]}]}`:                                    true,
		`{matchExpressions: [{key: app, operator: Exists}]}`:                                                  true,
		`{matchExpressions: [{key: none, operator: Exists}]}`:                                                 false,
		`{matchExpressions: [{key: none, operator: DoesNotExist}]}`:                                           true,
		`{matchExpressions: [{key: app, operator: DoesNotExist}]}`:                                            false,
		`{matchExpressions: [{key: app, operator: Like, values: [db]}]}`:                                      false,
		`{matchLabels: {app: db}, matchExpressions: [{key: tier, operator: Exists}]}`:                         true,
		`{matchLabels: {app: db}, matchExpressions: [{key: tier, operator: DoesNotExist}]}`:                   false,
		`{matchExpressions: [{key: app, operator: Exists}, {key: tier, operator: NotIn, values: [data, x]}]}`: false,
	} {
		t.Run(text, func(t *testing.T) {
			var s selector
			decode(t, text, &s)
			if got := s.selects(map[string]string{"app": "db", "tier": "data"}); got != want {
				t.Errorf("selects = %t, want %t", got, want)
			}
		})
	}
}
