"""The daemon as a service of systemd: its unit files, and the manager that runs them."""
