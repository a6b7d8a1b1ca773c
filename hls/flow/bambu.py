# SPDX-License-Identifier: Apache-2.0
"""PandA-Bambu: RTL from the scalar form of a kernel."""
import re

import flow

name = "bambu"
DEVICE = "xcu55c-2Lfsvh2892-VVD"
# The tool's estimate is optimistic by about a fifth before routing: it is asked for more than the card's clock.
PERIOD_NS = flow.CLOCK_NS * 0.8


def refuses(line):
    # A failed simulation or an internal error may leave the return code 0.
    return "Returned error code" in line or re.search(r"\berror\s*(->|:)", line, re.IGNORECASE) is not None


def make(paths, kernel, folder):
    flow.run([name, paths.source / "hls/kernels" / kernel.source, f"--top-fname={kernel.step_top}",
              "--compiler=I386_CLANG16", "--std=c++17", "-O2", f"-I{paths.source}", f"-I{paths.generated}",
              "--generate-interface=INFER", f"--device-name={DEVICE}", f"--clock-period={PERIOD_NS}", "-s", "-v2"],
             folder, "bambu.log", refuses)
    verilog = folder / f"{kernel.step_top}.v"
    if not verilog.exists() or f"module {kernel.step_top}" not in verilog.read_text():
        raise flow.FlowError(f"bambu returned 0, but there is no module {kernel.step_top} in {verilog}; log: {folder}/bambu.log")
    return [verilog]
