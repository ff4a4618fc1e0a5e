"""Turns, sessions and the engine: what is handed out when, without sockets and without JSON."""
