// SPDX-License-Identifier: Apache-2.0
// Sliders over the noise family. Each law is that of one other pair, as in theory/associative_memory/kernel_law.hpp.
"use strict";
{
const rate = tau => 2 * (tau - 1) / (tau * tau);
const mean = (d, tau) => Math.pow(1 + 2 * rate(tau), -d / 2);
const laws = {
  linear: { printed: d => 1 / d, exact: d => 1 / (d - 2), text: ["N / d", "(N−1) dv/(dv−2) / (d−2)"] },
  relu: { printed: d => 0.5 / d, exact: d => 0.5 / (d - 2), text: ["N / (2d)", "(N−1) dv/(dv−2) / (2(d−2))"] },
  exp: { tempered: true, printed: (d, tau) => Math.exp(-rate(tau) * d), exact: mean, text: ["N exp(−a d)", "(N−1) dv/(dv−2) (1+2a)^(−d/2)"] },
  solu: { tempered: true, printed: (d, tau) => (1 + 4 * d / (tau * tau)) / d * Math.exp(-rate(tau) * d),
          exact: (d, tau) => mean(d, tau) * ((1 + 2 * rate(tau)) / (d - 2) + 4 / (tau * tau)),
          text: ["N (1 + 4d/τ²)/d exp(−a d)", "(N−1) dv/(dv−2) (1+2a)^(−d/2) ((1+2a)/(d−2) + 4/τ²)"] },
};
const points = JSON.parse(document.getElementById("points").textContent);
const form = document.getElementById("explorer"), plot = document.getElementById("plot"), reading = document.getElementById("reading");
const number = x => x === 0 ? "0" : Math.abs(x) >= 0.001 && Math.abs(x) < 1e5 ? String(Number(x.toPrecision(4))) : x.toExponential(3);

function draw() {
  const law = laws[form.kernel.value], d = +form.d.value, n = +form.n.value, dv = +form.dv.value, tied = form.root.checked;
  const tau_at = width => tied ? Math.sqrt(width) : +form.tau.value, tau = tau_at(d);
  form.tau.disabled = tied || !law.tempered;
  const shown = { d: d, n: n, dv: dv, tau: law.tempered ? number(tau) : "–" };
  for (const name in shown) form[name].nextElementSibling.textContent = shown[name];
  const of_values = dv / (dv - 2);
  const printed = n * law.printed(d, tau), exact = (n - 1) * of_values * law.exact(d, tau);
  reading.textContent = `SNR⁻¹ at d = ${d}: printed ${law.text[0]} = ${number(printed)}; exact mean ${law.text[1]} = ${number(exact)}; exact / printed = ${number(exact / printed)}.`;
  const mine = points.filter(p => p.kernel === form.kernel.value && p.d >= 3);
  const widths = Array.from({ length: 120 }, (_, i) => 3 * Math.pow(256 / 3, i / 119));
  const curves = [[w => law.printed(w, tau_at(w)) * n / (n - 1), "6 4"], [w => of_values * law.exact(w, tau_at(w)), ""]];
  const marks = mine.map(p => ({ ...p, y: p.measured / Math.max(1, p.n - 1), near: !law.tempered || p.tau == null || Math.abs(p.tau / tau_at(p.d) - 1) < 0.02 }));
  const all = curves.flatMap(([f]) => widths.map(f)).concat(marks.filter(m => m.near).map(m => m.y)).filter(y => y > 0 && isFinite(y));
  const low = Math.log10(Math.min(...all)), high = Math.log10(Math.max(...all));
  const x = w => 60 + 680 * Math.log(w / 3) / Math.log(256 / 3), y = v => 370 - 350 * (Math.log10(v) - low) / Math.max(high - low, 1e-9);
  const parts = ['<path d="M60 20V370H740" fill="none" stroke="currentColor"/>'];
  for (const w of [4, 8, 16, 32, 64, 128, 256]) parts.push(`<text x="${x(w)}" y="388" text-anchor="middle">${w}</text>`);
  const step = Math.max(1, Math.ceil((high - low) / 6));
  for (let e = Math.ceil(low); e <= high; e += step) parts.push(`<text x="54" y="${y(Math.pow(10, e)) + 4}" text-anchor="end">1e${e}</text>`);
  parts.push('<text x="400" y="410" text-anchor="middle">key width d</text>', `<path d="M${x(d)} 20V370" stroke="currentColor" stroke-dasharray="2 3" opacity="0.5"/>`);
  for (const [f, dash] of curves)
    parts.push(`<polyline fill="none" stroke="var(--link)" stroke-width="2" stroke-dasharray="${dash}" points="${widths.map(w => x(w).toFixed(1) + "," + y(f(w)).toFixed(1)).join(" ")}"/>`);
  for (const m of marks) if (m.d <= 256 && y(m.y) >= 0 && y(m.y) <= 380)
    parts.push(`<circle class="mark" cx="${x(m.d)}" cy="${y(m.y)}" r="4" stroke="var(--bad)" fill="${m.near ? "var(--bad)" : "none"}"><title>${m.role}: ${number(m.measured)} at d = ${m.d}, n = ${m.n}</title></circle>`);
  plot.innerHTML = parts.join("");
}
form.addEventListener("input", draw);
form.addEventListener("submit", event => event.preventDefault());
draw();
}
