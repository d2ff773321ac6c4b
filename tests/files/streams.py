# SPDX-License-Identifier: Apache-2.0
"""An independent implementation of harness/numerics/random.hpp: Philox4x32-10 (Salmon et al. 2011) of {counter,
stream} under the seed; a stream's name is hashed by FNV-1a."""
import numpy as np

LOW = np.uint64(0xFFFFFFFF)


def philox(counter, stream, seed):
    """Two 64-bit words for each counter, low word first."""
    split = lambda x: [x & 0xFFFFFFFF, x >> 32]
    counter = np.asarray(counter, dtype=np.uint64)
    c = [counter & LOW, counter >> np.uint64(32), *(np.full_like(counter, part) for part in split(stream))]
    key = split(seed)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        high = [b >> np.uint64(32), a >> np.uint64(32)]
        c = [high[0] ^ c[1] ^ np.uint64(key[0]), b & LOW, high[1] ^ c[3] ^ np.uint64(key[1]), a & LOW]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[1] << np.uint64(32) | c[0], c[3] << np.uint64(32) | c[2]


class Stream:
    def __init__(self, seed, name):
        h = 0xCBF29CE484222325
        for byte in name.encode():
            h = (h ^ byte) * 0x100000001B3 % 2 ** 64
        self.seed, self.stream = seed, h

    def bits(self, count):
        return np.stack(philox(np.arange((count + 1) // 2), self.stream, self.seed), axis=1).ravel()[:count]

    def normals(self, count):
        words = self.bits(count + count % 2).reshape(-1, 2)
        unit = ((words >> np.uint64(11)).astype(float) + 0.5) * 2.0 ** -53
        radius, angle = np.sqrt(-2 * np.log(unit[:, 0])), 2 * np.pi * unit[:, 1]
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()[:count]

    def below(self, limits):
        """Random integers, the i-th in 0 ... limits[i] - 1."""
        return [int(word) * int(limit) >> 64 for word, limit in zip(self.bits(len(limits)), limits)]
