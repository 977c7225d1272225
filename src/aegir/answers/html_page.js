"use strict";
// Everything shown is in the page already; this only hides and opens parts of it.
(() => {
  const filter = document.querySelector(".filter");
  if (!filter) return;
  const [search, show, masked, all] = filter.querySelectorAll("input[type=search], select, input[type=checkbox], button");
  const count = filter.querySelector("output");
  const tables = [...document.querySelectorAll(".table")].map((section) => ({
    section,
    link: document.querySelector(`nav a[href="#${section.id}"]`),
    rows: [...section.querySelectorAll(".preview tr")],
    columns: [...section.querySelectorAll(".columns > li")].map((item) => ({
      item,
      words: `${section.querySelector("h2").textContent} ${item.querySelector("summary").textContent}`.toLowerCase(),
      marks: item.dataset.marks.split(" "),
    })),
  }));
  const total = tables.reduce((sum, table) => sum + table.columns.length, 0);

  const apply = () => {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const mark = show.value;
    let shown = 0;
    for (const { section, link, rows, columns } of tables) {
      let some = false;
      columns.forEach(({ item, words, marks }, index) => {
        const fits = (!mark || marks.includes(mark)) && wanted.every((word) => words.includes(word));
        if (item.hidden === fits) {
          item.hidden = !fits;
          for (const row of rows) row.cells[index].hidden = !fits;
        }
        some ||= fits;
        shown += fits;
      });
      section.hidden = !some && (mark !== "" || wanted.length > 0);
      if (link) link.parentElement.hidden = section.hidden;
    }
    count.textContent = shown === total ? `${total} columns` : `${shown} of ${total} columns`;
  };

  const toggle = () => {
    const visible = [...document.querySelectorAll(".columns > li:not([hidden]) > details")];
    const open = visible.some((details) => !details.open);
    for (const details of visible) details.open = open;
  };

  search.addEventListener("input", apply);
  show.addEventListener("change", apply);
  masked.addEventListener("change", () => document.body.classList.toggle("masked", masked.checked));
  all.addEventListener("click", toggle);
  filter.hidden = false;
  apply();
})();
