"""An experiment as a job, and the declarations that the page makes its forms of."""

from collections.abc import Mapping

from app.backend.jobs import Job
from app.backend.request_error import RequestError
from app.backend.settings import shorten
from app.backend.texts import LANGUAGES, both, shown_range, text
from pycore.experiments import EXPERIMENTS
from pycore.experiments.experiment import Experiment, SettingError


def declarations() -> list[dict]:
    """Every experiment as plain JSON. Text keys follow from names."""
    return [
        {
            "name": experiment.name,
            "subject": experiment.subject,
            "needs": list(experiment.needs),
            "params": [
                {
                    "name": param.name,
                    "kind": param.kind,
                    "default": param.default,
                    "minimum": param.minimum,
                    "maximum": param.maximum,
                    "choices": list(param.choices),
                    "unit": param.unit,
                }
                for param in experiment.params
            ],
            "presets": [
                {"name": preset.name, "settings": experiment.validated(preset.settings)}
                for preset in experiment.presets
            ],
        }
        for experiment in EXPERIMENTS.values()
    ]


def experiment_job(request: Mapping[str, object]) -> Job:
    """Runs `request["name"]` with `request["settings"]` over the defaults.

    Returns:
        `sources["report"]`: the experiment's report, each claim with its sentence in every language.

    Raises:
        RequestError: no such experiment, a package that it needs is missing, or settings that will not do.
    """
    name, given = request.get("name"), request.get("settings")
    experiment = EXPERIMENTS.get(name) if isinstance(name, str) else None
    if experiment is None:
        raise RequestError.of("error.experiment", value=shorten(name), expected=", ".join(EXPERIMENTS))
    if missing := experiment.missing():
        raise RequestError.of("error.needs", packages=", ".join(missing))
    try:
        result = yield from experiment.steps(given if isinstance(given, dict) else {})
    except SettingError as error:
        raise RequestError(_refusal(experiment, error)) from None
    report = experiment.report(result)
    for claim in report["claims"]:
        claim.update(both(claim["key"], **report["figures"]))
    return {"sources": {"report": report}, "settings": report["settings"]}


def _refusal(experiment: Experiment, error: SettingError) -> dict[str, str]:
    """What is wrong with a setting, which goes by the name that its form shows."""
    declared = any(param.name == error.param for param in experiment.params)
    return {
        lang: text(
            lang,
            "error.param",
            param=text(lang, experiment.key(f"param.{error.param}")) if declared else shorten(error.param),
            value=shorten(error.value),
            expected=shown_range(error.expected),
        )
        for lang in LANGUAGES
    }
