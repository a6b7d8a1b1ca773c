# SPDX-License-Identifier: Apache-2.0
"""Runs rtl/abi/generate.py on a description and gives back what it wrote."""
import importlib.util
import pathlib
import sys
import tempfile
import typing
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
DESCRIPTION = ROOT / "rtl/abi/abi.toml"


class Outputs(typing.NamedTuple):
    cpp: str
    sv: str
    doc: str


class GeneratorError(Exception):
    """The generator refused the description; the text is what it said."""


def load():
    spec = importlib.util.spec_from_file_location("abi_generator", ROOT / "rtl/abi/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = load()


def generate(description: str) -> Outputs:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "abi.toml"
        source.write_text(description)
        files = [folder / "out" / f for f in ("abi.hpp", "abi.sv", "abi.md")]
        options = [f"--{kind}={file}" for kind, file in zip(Outputs._fields, files)]
        try:
            with mock.patch.object(sys, "argv", ["generate.py", str(source), *options]):
                GENERATOR.main()
        except SystemExit as refusal:
            if any(file.exists() for file in files):
                raise AssertionError("it refused, but wrote") from refusal
            raise GeneratorError(refusal.code) from refusal
        return Outputs(*(file.read_text() for file in files))
