"""A session: data, a spec and a log of answers; ask, tell, undo, labels, progress, exports."""
