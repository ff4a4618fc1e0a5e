"""Recall as tools and resources of the Model Context Protocol, for agents without hooks.

One process serves one agent on its standard input and output, and is one session: no note comes to it twice.
"""
