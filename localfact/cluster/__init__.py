"""One run on the machines of a Ray cluster: workers that assess, and a driver that alone writes the run folder."""
