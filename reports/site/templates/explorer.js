// SPDX-License-Identifier: Apache-2.0
// Sliders over the noise family. Each law is that of one other pair, as in theory/associative_memory/noise/kernel_law.hpp: inverse
// SNR over n - 1. Rivals are the wrong laws of the claims snr_*, by their labels there.
"use strict";
const explorer = (() => {
const rate = tau => 2 * (tau - 1) / (tau * tau);
const mean = (d, tau) => Math.pow(1 + 2 * rate(tau), -d / 2);
const of_values = dv => dv / (dv - 2);
const solu = (d, tau, first, second) => mean(d, tau) * (first * (1 + 2 * rate(tau)) / (d - 2) + second / (tau * tau));
const laws = {
  linear: { printed: v => v.n / (v.n - 1) / v.d, exact: v => of_values(v.dv) / (v.d - 2), text: ["N / d", "(N−1) dv/(dv−2) / (d−2)"],
    rivals: { "d in place of d - 2": v => of_values(v.dv) / v.d, "d - 1 in place of d - 2": v => of_values(v.dv) / (v.d - 1) } },
  relu: { printed: v => 0.5 * v.n / (v.n - 1) / v.d, exact: v => 0.5 * of_values(v.dv) / (v.d - 2), text: ["N / (2d)", "(N−1) dv/(dv−2) / (2(d−2))"],
    rivals: { "d in place of d - 2": v => 0.5 * of_values(v.dv) / v.d, "d - 1 in place of d - 2": v => 0.5 * of_values(v.dv) / (v.d - 1) } },
  exp: { tempered: true, printed: v => v.n / (v.n - 1) * Math.exp(-rate(v.tau) * v.d), exact: v => of_values(v.dv) * mean(v.d, v.tau),
    text: ["N exp(−a d)", "(N−1) dv/(dv−2) (1+2a)^(−d/2)"],
    rivals: { "exponent -(d-1)/2 in place of -d/2": v => of_values(v.dv) * mean(v.d - 1, v.tau) } },
  solu: { tempered: true, printed: v => v.n / (v.n - 1) * (1 + 4 * v.d / (v.tau * v.tau)) / v.d * Math.exp(-rate(v.tau) * v.d),
    exact: v => of_values(v.dv) * solu(v.d, v.tau, 1, 4), text: ["N (1 + 4d/τ²)/d exp(−a d)", "(N−1) dv/(dv−2) (1+2a)^(−d/2) ((1+2a)/(d−2) + 4/τ²)"],
    rivals: { "exponent -(d-1)/2 in place of -d/2": v => of_values(v.dv) * solu(v.d, v.tau, 1, 4) * Math.sqrt(1 + 2 * rate(v.tau)),
      "the term 1/|k_i|^2 left out": v => of_values(v.dv) * solu(v.d, v.tau, 0, 4), "2/tau^2 in place of 4/tau^2": v => of_values(v.dv) * solu(v.d, v.tau, 1, 2) } },
};
for (const law of Object.values(laws)) law.rivals["N in place of N - 1"] = v => v.n / (v.n - 1) * law.exact(v);
for (const name of ["linear", "relu", "exp"]) laws[name].rivals["values that all have the same norm"] = v => laws[name].exact(v) / of_values(v.dv);
const axes = { d: [3, 256, "key width d"], n: [2, 1024, "stored pairs n"], dv: [3, 256, "value width dv"], tau: [1.1, 32, "temperature τ"] };
const points = JSON.parse(document.getElementById("points").textContent);
const form = document.getElementById("explorer"), plot = document.getElementById("plot"), reading = document.getElementById("reading");
const number = x => x === 0 ? "0" : Math.abs(x) >= 0.001 && Math.abs(x) < 1e5 ? String(Number(x.toPrecision(4))) : x.toExponential(3);
const shades = [1, 2, 3, 4].map(i => `var(--rival-${i})`);
const left = 72, top = 16, bottom = 372;
const narrow = matchMedia("(max-width: 50rem)"); // the legend is below the plot, else beside it

/// The values of the sliders, with that on the axis replaced.
function chosen(along, at) {
  const v = { d: +form.d.value, n: +form.n.value, dv: +form.dv.value, tau: +form.tau.value };
  if (along) v[along] = at;
  if (form.root.checked && along !== "tau") v.tau = Math.sqrt(v.d);
  return v;
}

/// Whether a point was measured at the chosen values of all that the law takes but the axis. Pairs are divided out.
function near(point, along, law) {
  const v = chosen(along, point[along]);
  return ["d", "dv", ...(law.tempered ? ["tau"] : [])].every(name => name === along || point[name] == null || Math.abs(point[name] / v[name] - 1) < 0.02);
}

function ticks(low, high) {
  const found = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); ++p)
    for (const m of [1, 2, 5]) if (m * 10 ** p >= low * 0.999 && m * 10 ** p <= high * 1.001) found.push(m * 10 ** p);
  return found;
}

function table() {
  const along = form.x.value, law = laws[form.kernel.value], [low, high] = axes[along];
  const at = Array.from({ length: 120 }, (_, i) => low * Math.pow(high / low, i / 119));
  const curves = { printed: law.printed, exact: law.exact, ...law.rivals };
  return { along, law, at, curves: Object.entries(curves).map(([name, f]) => [name, at.map(x => f(chosen(along, x)))]) };
}

function draw() {
  const { along, law, at, curves } = table(), now = chosen(), below = narrow.matches, right = below ? 350 : 590;
  plot.setAttribute("viewBox", below ? `0 0 360 ${bottom + 60 + 22 * curves.length}` : "0 0 900 430");
  form.tau.disabled = !law.tempered || (form.root.checked && along !== "tau");
  for (const name in axes) form[name].nextElementSibling.textContent = name === "tau" && !law.tempered ? "–" : number(now[name]);
  const printed = law.printed(now) * (now.n - 1), exact = law.exact(now) * (now.n - 1);
  reading.textContent = `SNR⁻¹ at d = ${now.d}, n = ${now.n}: printed ${law.text[0]} = ${number(printed)}; exact mean ${law.text[1]} = ${number(exact)}; exact / printed = ${number(exact / printed)}.`;
  const marks = points.filter(p => p.kernel === form.kernel.value && p[along] >= axes[along][0] && p[along] <= axes[along][1])
    .map(p => ({ ...p, y: p.measured / Math.max(1, p.n - 1), near: near(p, along, law) }));
  const all = curves.flatMap(([, y]) => y).concat(marks.filter(m => m.near).map(m => m.y)).filter(y => y > 0 && isFinite(y));
  const low = Math.max(Math.min(...all), 1e-30), high = Math.max(...all) * 1.2;
  const x = v => left + (right - left) * Math.log(v / at[0]) / Math.log(at[119] / at[0]);
  const y = v => bottom - (bottom - top) * Math.log(v / low) / Math.max(Math.log(high / low), 1e-9);
  const parts = [];
  for (const v of ticks(at[0], at[119]))
    parts.push(`<path class="grid" d="M${x(v).toFixed(1)} ${top}V${bottom}" stroke="currentColor" opacity="0.15"/><text x="${x(v).toFixed(1)}" y="${bottom + 18}" text-anchor="middle">${v}</text>`);
  const first = Math.ceil(Math.log10(low)), last = Math.floor(Math.log10(high)), step = Math.max(1, Math.ceil((last - first) / 7));
  const levels = last - first < 2 ? ticks(low, high) : Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
  for (const v of levels)
    parts.push(`<path class="grid" d="M${left} ${y(v).toFixed(1)}H${right}" stroke="currentColor" opacity="0.15"/><text x="${left - 6}" y="${(y(v) + 4).toFixed(1)}" text-anchor="end">${v >= 0.01 && v < 1000 ? Number(v.toPrecision(3)) : v.toExponential(0)}</text>`);
  parts.push(`<path d="M${left} ${top}V${bottom}H${right}" fill="none" stroke="currentColor"/>`,
    `<text class="title" x="${(left + right) / 2}" y="${bottom + 40}" text-anchor="middle">${axes[along][2]}</text>`,
    `<text class="title" transform="translate(16 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">inverse SNR per stored pair</text>`,
    `<path d="M${x(now[along]).toFixed(1)} ${top}V${bottom}" stroke="currentColor" stroke-dasharray="2 3" opacity="0.5"/>`);
  const [legend, first_entry] = below ? [left, bottom + 66] : [right + 16, top + 8];
  curves.forEach(([name, values], i) => {
    const rival = i > 1, colour = rival ? shades[(i - 2) % shades.length] : "var(--link)", dash = i === 0 ? "6 4" : rival ? "2 3" : "";
    const line = `fill="none" stroke="${colour}" stroke-width="${rival ? 1.2 : 2}" stroke-dasharray="${dash}"`;
    const shown = at.map((v, j) => [x(v), y(values[j])]).filter(([, height]) => height >= top - 1 && height <= bottom + 1);
    parts.push(`<polyline ${line} data-curve="${i}" points="${shown.map(p => p[0].toFixed(1) + "," + p[1].toFixed(1)).join(" ")}"/>`,
      `<path ${line} d="M${legend} ${first_entry + 22 * i}h28"/><text class="entry" x="${legend + 36}" y="${first_entry + 4 + 22 * i}">${rival ? "rival: " : ""}${name.replace(/</g, "&lt;")}</text>`);
  });
  for (const m of marks) if (m.y > 0 && y(m.y) >= top && y(m.y) <= bottom)
    parts.push(`<circle class="mark" cx="${x(m[along]).toFixed(1)}" cy="${y(m.y).toFixed(1)}" r="4" stroke="var(--bad)" fill="${m.near ? "var(--bad)" : "none"}"><title>${m.role}: ${number(m.measured)} at d = ${m.d}, n = ${m.n}</title></circle>`);
  plot.innerHTML = parts.join("");
  offer();
}

/// Links that save what is drawn: the picture with its colours, and the curves as a table.
function offer() {
  const style = getComputedStyle(document.documentElement);
  const inside = plot.innerHTML.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${plot.getAttribute("viewBox")}" font-family="sans-serif" font-size="12" color="#1d2733" fill="#1d2733">${inside}</svg>`;
  const { along, at, curves } = table(), quoted = curves.map(([name]) => `"${name}"`);
  const csv = [[along, ...quoted].join(","), ...at.map((v, i) => [v, ...curves.map(([, y]) => y[i])].join(","))].join("\n") + "\n";
  document.getElementById("as-svg").href = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
  document.getElementById("as-csv").href = "data:text/csv;charset=utf-8," + encodeURIComponent(csv);
}
form.addEventListener("input", draw);
narrow.addEventListener("change", draw);
form.addEventListener("submit", event => event.preventDefault());
draw();
return { laws };
})();
