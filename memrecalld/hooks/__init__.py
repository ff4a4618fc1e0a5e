"""Recall inside coding agents, by the hooks that they run at each event of a session.

The hook process (``process``) starts, asks the daemon, prints and ends at every prompt and every tool result,
so that it and what it needs import next to nothing. The rest writes the agents' settings.
"""
