"""How much a prefix cache could reuse of a trace, without an engine."""
