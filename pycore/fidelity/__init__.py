"""Predictions held against runs that were measured on real GPUs."""
