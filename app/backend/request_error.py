"""A request that cannot be answered."""

from collections.abc import Mapping, Sequence

from app.backend.texts import both


class RequestError(ValueError):
    """Carries the sentence for the user.

    Attributes:
        sentences: by language.
        remedy: what the page can offer instead, "" for nothing: "keep_good" replays a file's good rows.
        offers: changes of the settings, by key, each of which would do.
    """

    def __init__(
        self, sentences: dict[str, str], remedy: str = "", offers: Sequence[Mapping[str, int | str]] = ()
    ) -> None:
        super().__init__(sentences["en"])
        self.sentences = sentences
        self.remedy = remedy
        self.offers = offers

    def __reduce__(self) -> tuple:
        """So that it also comes back from a worker process, which pickles it."""
        return RequestError, (self.sentences, self.remedy)

    @classmethod
    def of(
        cls, key: str, offers: Sequence[Mapping[str, int | str]] = (), /, **fields: object
    ) -> "RequestError":
        """With the sentence `key` of the catalogue."""
        return cls(both(key, **fields), offers=offers)

    def as_dict(self) -> dict[str, object]:
        """For the page."""
        return {"remedy": self.remedy, "offers": [dict(offer) for offer in self.offers], **self.sentences}
