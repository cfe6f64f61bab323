"""The groups of figures of `partwise reproduce posterior`, one file each.

A group is a module with `draw(plan)`: it computes what its figures show, or finds it where an earlier call left it,
writes the pictures into ``plan.folder`` and returns plain data with the "lines" that are printed. `plan.py` says how
much is done, `chain_run.py` runs a chain that can be taken up again.
"""
