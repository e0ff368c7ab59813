"""What a user may type becomes options, or one sentence about what it should be."""

from pathlib import Path

import pytest

from localfact.errors import InputError
from localfact.methods.option_group import check_options
from localfact.methods.option_readers import read_engine_args, read_hosts
from localfact.methods.options import Options


def typed(**words: object) -> Options:
    return check_options(Options, words)


def test_a_table_of_hosts_is_read_in_lower_case_and_checked_by_host(tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text("Hearsay.Example: 0.5\n")
    assert read_hosts(file) == {"hearsay.example": 0.5}
    file.write_text("hearsay.example: 3\n")
    with pytest.raises(InputError, match="prior of hearsay"):
        read_hosts(file)
    file.write_text("")
    assert read_hosts(file) == {}
    assert typed(hosts=file).hosts == Options().hosts == {}


def test_a_stride_is_a_number_or_max_as_typed() -> None:
    assert (typed().stride, typed(stride="3").stride) == ("max", 3)
    for word in ("0", "²", "-1", "some"):
        with pytest.raises(InputError, match=f"--stride cannot be '?{word}'?"):
            typed(stride=word)


def test_engine_arguments_are_read_once_each_with_dashes_or_underscores() -> None:
    assert read_engine_args(["max-model-len=8192", "dtype = float32"]) == {"max_model_len": "8192", "dtype": "float32"}
    with pytest.raises(InputError, match="key=value"):
        read_engine_args(["dtype"])
    with pytest.raises(InputError, match="twice"):
        read_engine_args(["dtype=float32", "dtype=bfloat16"])
