"""Where a model runs: its size, the hardware, and the settings that an engine is started from."""
