package verdict

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Audit judges an audit whose number was read twice. value is the place of the number.
func Audit(value v1beta1.JSONPath, a v1beta1.AuditStatus) v1beta1.AuditStatus {
	change := *a.After - *a.Before
	a.Change = &change
	grew := fmt.Sprintf("%s grew by %d, from %d to %d", value, change, *a.Before, *a.After)
	if change < 0 {
		grew = fmt.Sprintf("%s fell by %d, from %d to %d", value, -change, *a.Before, *a.After)
	}
	state, message := compare(a, change, grew)
	return conclude(a, state, message)
}

func compare(a v1beta1.AuditStatus, change int64, grew string) (v1beta1.AuditState, string) {
	acknowledged := a.Acknowledged
	switch {
	case change < acknowledged && acknowledged > 0:
		missing, are := min(acknowledged, acknowledged-change), "are"
		if missing == 1 {
			are = "is"
		}
		return v1beta1.AuditFailed, fmt.Sprintf("%d of the %d acknowledged %s missing; %s", missing, acknowledged, are, grew)
	case change < 0:
		return v1beta1.AuditFailed, grew + ", although nothing was to be removed"
	case a.Unknown == nil:
		return v1beta1.AuditInconclusive, fmt.Sprintf("%s; %d were acknowledged, and it is not known how many more were sent, because a worker was lost", grew, acknowledged)
	case change > acknowledged+*a.Unknown:
		return v1beta1.AuditFailed, fmt.Sprintf("%d more are stored than were sent without being refused; %s; %s. They were stored twice, or by another client", change-acknowledged-*a.Unknown, grew, known(a))
	case acknowledged == 0:
		return v1beta1.AuditInconclusive, fmt.Sprintf("nothing was acknowledged, so there is nothing to compare with; %s", grew)
	}
	return v1beta1.AuditPassed, grew + "; " + known(a)
}

// known is what a change is compared with.
func known(a v1beta1.AuditStatus) string {
	if *a.Unknown == 0 {
		return fmt.Sprintf("%d were acknowledged", a.Acknowledged)
	}
	return fmt.Sprintf("%d were acknowledged, and %d more may have been stored", a.Acknowledged, *a.Unknown)
}

// Unread is an audit whose number was not read at a point of the run, for that reason.
func Unread(value v1beta1.JSONPath, a v1beta1.AuditStatus, point v1beta1.AuditPoint, problem string) v1beta1.AuditStatus {
	return conclude(a, v1beta1.AuditInconclusive, fmt.Sprintf("%s is unknown %s: %s", value, When(point), problem))
}

// When says when the numbers are read.
func When(point v1beta1.AuditPoint) string {
	if point == v1beta1.AuditBefore {
		return "before the first step"
	}
	return "after the last step"
}

func conclude(a v1beta1.AuditStatus, state v1beta1.AuditState, message string) v1beta1.AuditStatus {
	a.State = state
	a.Message = text.Truncate(fmt.Sprintf("Audit %s: %s", a.Name, message), maxMessage-1) + "."
	return a
}

// failedAudits is the sentence of the first audit that failed, and what else is wrong
// with the target.
func (r run) failedAudits() string {
	message, more := "", 0
	for _, a := range r.status.Audits {
		switch {
		case a.State != v1beta1.AuditFailed:
		case message == "":
			message = a.Message
		default:
			more++
		}
	}
	if message == "" {
		return ""
	}
	switch more {
	case 0:
	case 1:
		message += " One more audit failed."
	default:
		message += fmt.Sprintf(" %d more audits failed.", more)
	}
	if breach := r.breach(); breach != "" {
		message += " " + breach
	}
	return message
}

// undecidedAudits is why an audit could not be made.
func (r run) undecidedAudits() string {
	for _, a := range r.status.Audits {
		if a.State != v1beta1.AuditPassed {
			return a.Message
		}
	}
	for _, a := range r.spec.StoredAudits() {
		if !slices.ContainsFunc(r.status.Audits, func(s v1beta1.AuditStatus) bool { return s.Name == a.Name }) {
			return fmt.Sprintf("Audit %s was not performed: the operator that started the run does not support it.", a.Name)
		}
	}
	return ""
}
