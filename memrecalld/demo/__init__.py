"""A demonstration with invented notes: a private home, a private daemon, and a stand-in for the model."""
