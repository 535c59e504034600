"""Tests of the settings from environment variables."""

import warnings

import pytest

from halfbyte import _settings
from halfbyte._settings import Settings, from_environment


def test_the_defaults():
    assert from_environment({}) == from_environment({"HALFBYTE_SM": " ", "HALFBYTE_RACES": "0", "HALFBYTE_KEEP_GOING": "0"}) == Settings()
    assert from_environment({"HALFBYTE_RACES": "off"}).races is False


def test_variables_replace_the_defaults():
    variables = {
        "HALFBYTE_SM": "sm_90",
        "HALFBYTE_SMS": "132",
        "HALFBYTE_MAX_MEMORY": "1g",
        "HALFBYTE_RACES": "on",
        "HALFBYTE_KEEP_GOING": "1",
        "HALFBYTE_BUDGET": "77",
        "HALFBYTE_THREADS": "2",
        "HALFBYTE_TRITON_AUTOTUNE": "1",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settings = from_environment(variables)
    assert settings == Settings(90, 132, 1 << 30, True, True, 77, 2, True)
    assert settings.limits.shared_of_block == 232448
    assert from_environment({"HALFBYTE_RACES": "strict"}).races == "strict"


@pytest.mark.parametrize("name, value", [("SM", "70"), ("SM", "8.0"), ("SMS", "0"), ("SMS", "-1"), ("MAX_MEMORY", "0"), ("MAX_MEMORY", "G"), ("MAX_MEMORY", "4T"), ("BUDGET", "x"), ("THREADS", "0")])
def test_invalid_values_are_reported(name, value):
    with pytest.warns(UserWarning, match=f"`HALFBYTE_{name}={value}` is ignored; set HALFBYTE_{name} to"):
        assert from_environment({f"HALFBYTE_{name}": value}) == Settings()


def test_capabilities():
    assert [_settings.capability(sm) for sm in (75, "80", "sm_90")] == [75, 80, 90]
    for bad in (70, 0, -1, 80.0, True, "x", None):
        with pytest.raises((TypeError, ValueError), match=r"\bsm\b"):
            _settings.capability(bad)
