"""How fast the daemon is, how much it holds, and beside what: ``python -m tests.benchmarks``."""
