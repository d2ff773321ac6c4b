# SPDX-License-Identifier: Apache-2.0
"""Pages of figures: noise with its explorer, speed, and a page for each device."""
from __future__ import annotations

from typing import Iterator

from reports import device_speed
from reports.figures import speed as speed_figures
from reports.site.catalogue import Entry
from reports.site.frame import Site


def pages(site: Site) -> Iterator[tuple[str, str]]:
    noise = [
        site.section("Retrieval noise", "noise", "No file holds the claims snr_* over several key widths.",
                     "recollect verify --suite suites/curves.toml -o curves.h5"),
        site.section("Fast forms compared with their definition", "forms",
                     "No file holds the claim chunk_equals_recurrent.",
                     "recollect verify chunk_equals_recurrent -o v.h5"),
        site.section("Standard errors and sensitivity", "statistics", "No file holds at least ten sampled points.",
                     "recollect verify -o v.h5"),
    ]  # fmt: skip
    yield "noise.html", site.render("noise.html", "figures.html", title="Noise, fast forms, statistics", devices=[],
                                    ratios=[], not_timed=[], sections=noise)  # fmt: skip
    yield "explorer.html", site.render("explorer.html", "explorer.html", points=noise_points(site))
    for device in site.results.devices:
        path = f"speed/{device.name}.html"
        yield path, site.render(path, "device_speed.html", device=device)
    speed = site.section("Time against length, and the roofline", "speed",
                         "No file holds timings over at least three lengths.",
                         "recollect bench --sweep T=1024:16384:*2 -o bench.h5")  # fmt: skip
    yield "speed.html", site.render(
        "speed.html",
        "figures.html",
        title="Speed",
        devices=[(device, device_speed.summary(device)) for device in site.results.devices],
        decoded=device_speed.DECODED,
        ratios=speed_figures.ratios(site.results),
        not_timed=speed_figures.not_timed(site.results),
        sections=[speed],
    )


def noise_points(site: Site) -> list[Entry]:
    """Measured inverse SNRs of the noise family, for the explorer."""
    kernels = dict(snr_linear="linear", snr_relu="relu", snr_exp="exp", snr_solu="solu")
    return [
        dict(kernel=kernels[c.id], d=s["d"], n=s.get("n", 2), dv=s.get("dv"), tau=s.get("tau"), measured=p.measured,
             error=p.standard_error, role=p.role)
        for c in site.claims if c.id in kernels
        for p, s in ((p, p.params) for p in c.points)
        if p.role != "limit" and p.relation == "equal" and p.measured > 0 and isinstance(s.get("d"), (int, float))
        and s.get("quantity", "snr_inverse") == "snr_inverse"
    ]  # fmt: skip
