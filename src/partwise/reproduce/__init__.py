"""Published experiments and the demo: one file each, run by the command line."""
