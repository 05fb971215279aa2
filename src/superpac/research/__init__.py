"""The paper run again: its figures, its claims judged, its theory checked, its data imported.

Needs the extra ``superpac[research]``; nothing here is needed for labelling or clustering.
"""
