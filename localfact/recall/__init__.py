"""Recall from evidence: which facts of the pages about a prompt its response says, contradicts, or leaves out."""
