"""Packages that are missing, or not what an adapter was written for, are named; nothing takes their place."""

import sys
from importlib import metadata
from types import ModuleType

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.plugins.packages import known_versions, open_package


@pytest.fixture
def other_trl(monkeypatch):
    """An installed TRL of another time."""
    monkeypatch.setattr(metadata, "version", lambda name: "0.1")
    monkeypatch.setitem(sys.modules, "trl", ModuleType("trl"))


def test_a_missing_package_is_named_with_the_version_that_was_tested(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    version = known_versions()["trl"]
    with pytest.raises(ImportError, match=f"trl is not installed; .* pip install 'trl=={version}'"):
        open_package("trl", "trl", "GRPOTrainer")


def test_a_package_with_another_interface_is_refused(other_trl):
    with pytest.raises(UsageError, match=r"trl of trl 0.1 has no GRPOTrainer, GRPOConfig; its int"):
        open_package("trl", "trl", "GRPOTrainer GRPOConfig")


def test_a_package_whose_module_is_gone_is_refused(other_trl):
    with pytest.raises(UsageError, match=r"trl.gone of trl 0.1 cannot be imported \(No module"):
        open_package("trl", "trl.gone", "GRPOTrainer")
