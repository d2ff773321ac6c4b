// SPDX-License-Identifier: Apache-2.0
// Filters the verdict table. Without it the page shows every row.
(function () {
  var form = document.getElementById("filter");
  if (!form) return;
  var rows = [].slice.call(document.querySelectorAll(".verdicts > tbody > tr"));
  var count = form.querySelector("output");
  function apply() {
    var words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
    rows.forEach(function (row) {
      var fits = (!form.paper.value || row.dataset.paper === form.paper.value) &&
        (!form.outcome.value || row.dataset.outcome === form.outcome.value) &&
        words.every(function (word) { return row.dataset.key.indexOf(word) >= 0; });
      row.hidden = !fits;
      row.style.display = fits ? "" : "none";
      shown += fits;
    });
    count.textContent = shown + " of " + rows.length + " claims";
  }
  function reveal() { // a link to a filtered-out claim clears the filter
    var target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.hidden) { form.reset(); apply(); target.scrollIntoView(); }
  }
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  window.addEventListener("hashchange", reveal);
  apply();
})();
