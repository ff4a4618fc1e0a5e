"""What ``memrecall doctor`` looks at: a module for each family of checks, from a subject to findings."""
