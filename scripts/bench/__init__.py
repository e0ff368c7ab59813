"""`make bench`: what each path costs on this machine, as ratios within one run."""
