"""The named methods: what a user may choose, what that settles, and the strategies it is wired from, a file a stage."""
