"""How many examples hypothesis tries: `--hypothesis-profile=ci` (the default) or `=deep`."""

from hypothesis import HealthCheck, settings

# "ci" tries the same examples every time, so that a red run is a change of the code and never of the dice.
settings.register_profile(
    "ci",
    max_examples=30,
    stateful_step_count=30,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("deep", settings.get_profile("ci"), max_examples=2000, derandomize=False)
settings.load_profile("ci")
