"""Reports: one self-contained HTML page about a result, and the sunburst of a topic tree."""

from partwise.reporting.making import Report, report
from partwise.reporting.sunburst import sunburst

__all__ = ["Report", "report", "sunburst"]
