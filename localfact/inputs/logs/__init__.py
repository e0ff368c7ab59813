"""Reads other evaluators' logs as rows of responses, one file a tool. A log is data: bounded, never unpickled, never run."""
