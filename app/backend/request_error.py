"""A request that cannot be answered."""

from app.backend.texts import both


class RequestError(ValueError):
    """Carries the sentence for the user.

    Attributes:
        sentences: by language.
        remedy: what the page can offer instead, "" for nothing: "keep_good" replays a file's good rows.
    """

    def __init__(self, sentences: dict[str, str], remedy: str = "") -> None:
        super().__init__(sentences["en"])
        self.sentences = sentences
        self.remedy = remedy

    @classmethod
    def of(cls, key: str, **fields: object) -> "RequestError":
        """With the sentence `key` of the catalogue."""
        return cls(both(key, **fields))

    def as_dict(self) -> dict[str, str]:
        """For the page."""
        return {"remedy": self.remedy, **self.sentences}
