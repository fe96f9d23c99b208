"""The one way a build stops: a sentence for whoever started it."""


class BuildError(Exception):
    """The site cannot be built; the message is one sentence with what, where and what was expected."""
