"""Settings of the whole test suite.

RELYNX_EXAMPLES says how many examples a property is tried on, 20 unless set; `make slow` sets 200.
"""

import gc
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The tests take all cores; threads of linear algebra within each of them would wait for each other.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Kernels compile during the first example that meets them: a deadline would time the compiler.
settings.register_profile(
    "relynx",
    max_examples=int(os.environ.get("RELYNX_EXAMPLES", "20")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("relynx")

collect_ignore = ["conftest.py"]  # there is another one beside the pages


def pytest_collection_finish():
    """Thousands of tests stay to the end: the collector need not look at them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def no_waiting_for_the_disk():
    """No file of a test has to outlast a power cut; what is written when is asked of the calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(autouse=True)
def hashes_may_wrap():
    """Where loops are not compiled, numpy would warn of the hashes of kernels, which wrap."""
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        yield
        return
    with np.errstate(over="ignore"):
        yield
