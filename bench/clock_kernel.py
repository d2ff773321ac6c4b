# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel that reads the time and the cycle count of the multiprocessors of a GPU."""
import triton
import triton.language as tl


@triton.jit
def read_clocks(out):
    """Sets out[2 i] = %globaltimer (ns) and out[2 i + 1] = %clock64, where i is the multiprocessor that runs the program."""
    which = tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    now = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    cycles = tl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    tl.store(out + 2 * which, now)
    tl.store(out + 2 * which + 1, cycles)
