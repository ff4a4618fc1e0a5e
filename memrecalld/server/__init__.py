"""The only room that knows JSON-RPC, sockets and pygls."""
