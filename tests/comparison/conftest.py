"""One thread: the matrices are small, and threads that wait for busy cores take a hundred times as long."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):
        yield
