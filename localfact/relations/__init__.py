"""Relations between passages and claims: how a hypothesis relates to a premise. The third stage."""
