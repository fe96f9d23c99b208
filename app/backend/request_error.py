"""A request that cannot be answered."""

from app.backend.texts import both


class RequestError(ValueError):
    """Carries the sentence for the user.

    Attributes:
        sentences: by language.
    """

    def __init__(self, sentences: dict[str, str]) -> None:
        super().__init__(sentences["en"])
        self.sentences = sentences

    @classmethod
    def of(cls, key: str, **fields: object) -> "RequestError":
        """With the sentence `key` of the catalogue."""
        return cls(both(key, **fields))
