"""A model in use: whether it is still as good as it was when it was fitted."""

from surefoot.monitoring._audit import Audit, AuditResult, audit

__all__ = ["Audit", "AuditResult", "audit"]
