"""The command kvscope: run, replay, experiment, site."""

from app.cli.kvscope import main

__all__ = ["main"]
