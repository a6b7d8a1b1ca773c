# SPDX-License-Identifier: Apache-2.0
"""Vitis HLS: RTL from the AXI4-Stream form of a kernel."""
import re

import flow

name = "vitis_hls"
PART = "xcu55c-fsvh2892-2L-e"

SCRIPT = """\
open_project -reset project
set_top {top}
add_files {source} -cflags "-std=c++17 -I{root} -I{generated}"
open_solution -reset card
set_part {part}
create_clock -period {period}
config_compile -pipeline_loops 0
csynth_design
exit
"""


def refuses(line):
    return re.match(r"\s*(ERROR|CRITICAL WARNING)\b", line) is not None


def make(paths, kernel, folder):
    (folder / "make.tcl").write_text(SCRIPT.format(
        top=kernel.stream_top, source=paths.source / "hls/kernels" / kernel.source, root=paths.source,
        generated=paths.generated, part=PART, period=flow.CLOCK_NS))
    flow.run([name, "-f", "make.tcl"], folder, "vitis_hls.log", refuses)
    files = sorted((folder / "project/card/syn/verilog").glob("*.v"))
    if not any(f"module {kernel.stream_top} " in file.read_text() for file in files):
        raise flow.FlowError(f"vitis_hls returned 0, but made no module {kernel.stream_top}; log: {folder}/vitis_hls.log")
    return files
