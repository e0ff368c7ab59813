"""The named methods: what a user may choose, the settings that follow from it, and the wiring of the stages."""
