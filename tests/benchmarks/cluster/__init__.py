"""Runs on two local workers against one process, and a simulation of up to 1,000 workers."""
