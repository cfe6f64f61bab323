"""The sections of a report, one file each, in the order of the page. A new kind is one file and one line here.

A section is a function ``section(source)`` of a `partwise.reporting.source.Source`. It returns None where the section
says nothing for this result, or a dict with "title", optionally "lead" (a sentence below the title), and "blocks",
made by the functions of `partwise.reporting.blocks`.
"""

SECTIONS = (
    "done",
    "compared",
    "recordings",
    "convergence",
    "sounds",
    "parts",
    "samples",
    "usage",
    "tree",
    "tiles",
    "classes",
    "uncertainty",
    "checks",
    "pictures",
)
