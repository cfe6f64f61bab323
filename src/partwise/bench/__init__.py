"""A race that anyone can run: one objective, several data sets, one file per solver.

Every solver starts from the same factors. Only its own work is on the clock: data are loaded and code is compiled
before, and factors are scored between iterations by one objective in double precision.
"""
