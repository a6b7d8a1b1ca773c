# SPDX-License-Identifier: Apache-2.0
"""What the tests of the card build share: where things are. Arguments of every test: PROJECT GENERATED."""
import pathlib
import sys

if len(sys.argv) < 3:
    sys.exit(f"usage: {sys.argv[0]} PROJECT GENERATED [unittest's arguments]")
ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
GENERATED = pathlib.Path(sys.argv.pop(1)).resolve()
ALVEO = ROOT / "rtl/alveo"
HEADER = (GENERATED / "include/tidemill/abi.hpp").read_text()
U55C = "xilinx_u55c_gen3x16_xdma_3_202210_1"
sys.path.insert(0, str(ALVEO))
