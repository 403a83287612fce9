"""Settings of the whole test suite."""

from hypothesis import HealthCheck, settings

# Kernels compile during the first example that meets them: a deadline would time the compiler.
settings.register_profile(
    "relynx", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("relynx")

collect_ignore = ["conftest.py"]  # there is another one beside the pages
