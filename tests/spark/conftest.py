"""A Spark on this machine, with two workers."""

import os
import sys

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "spark" in item.path.parts:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: make spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    yield session
    session.stop()
