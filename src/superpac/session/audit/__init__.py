"""An unbiased check of a session's clusters by a small random sample, with an exact interval."""

from superpac.session.audit.interval import AuditResult, wrong_items
from superpac.session.audit.sampling import SAMPLE, Audit, run_audit, start

__all__ = ["SAMPLE", "Audit", "AuditResult", "run_audit", "start", "wrong_items"]
