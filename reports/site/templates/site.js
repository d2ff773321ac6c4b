// SPDX-License-Identifier: Apache-2.0
// Filters (kept in the address) and sortable tables. Without it every row shows, in the order of the page.
"use strict";
function address() { return new URLSearchParams(location.hash.slice(1) || location.search); }

function filter(form) {
  const rows = [...document.querySelectorAll(".ledger > tbody > tr")], count = form.querySelector("output");
  function apply() {
    const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = (!form.paper.value || row.dataset.paper === form.paper.value) &&
        (!form.outcome.value || row.dataset.outcome === form.outcome.value) &&
        words.every(word => row.dataset.key.includes(word));
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown + " of " + rows.length + " claims";
  }
  function read() {
    const given = address();
    for (const name of ["words", "paper", "outcome"]) form[name].value = given.get(name) || "";
    apply();
  }
  form.hidden = false;
  form.addEventListener("input", () => {
    const state = new URLSearchParams();
    for (const name of ["words", "paper", "outcome"]) if (form[name].value) state.set(name, form[name].value);
    history.replaceState(null, "", "#" + state);
    apply();
  });
  form.addEventListener("submit", event => event.preventDefault());
  window.addEventListener("hashchange", () => { if (location.hash.includes("=") || !location.hash) read(); });
  if (!location.hash || location.hash.includes("=")) read(); else apply(); // an anchor shows its row whatever was searched for
}

function sortable(table) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => {
    const cell = row.cells[at], text = !cell ? "" : "sort" in cell.dataset ? cell.dataset.sort : cell.textContent.trim();
    return text !== "" && isFinite(text) ? Number(text) : text;
  };
  heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map(row => [value(row, at), row]);
    const empty = x => x === "";
    rows.sort(([a], [b]) => empty(a) - empty(b) || (down ? -1 : 1) *
      (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true })));
    body.append(...rows.map(([, row]) => row));
  }));
}

if (document.getElementById("filter")) filter(document.getElementById("filter"));
document.querySelectorAll("table.sortable").forEach(sortable);
