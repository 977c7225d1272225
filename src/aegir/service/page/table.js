// A table: some of its rows under a chip per column, and lines from the subject to what is related to it.
import { amount, draw, figure, make, sureness } from "./dom.js";
import { openColumn } from "./column.js";

const chip = (column, open) => {
  const classes = ["chip", column.kind ? `kind-${column.kind}` : "", column.unsure ? "unsure" : ""];
  return make("button", { type: "button", class: classes.join(" ").trim(), onclick: open }, column.shown);
};

const relationText = (column, isSubject, repeats) => {
  if (isSubject) return make("span", { class: "subject", title: repeats ? "several rows share it" : null }, repeats ? "subject, repeats" : "subject");
  if (!column.relation) return null;
  return make("span", { class: "relation" }, `${column.relation.label} `, make("span", { class: "soft number" }, figure(column.relation.confidence)));
};

const headCell = (column, isSubject, repeats, open, choose) => {
  const badge = column.personal ? make("span", { class: "badge" }, column.personal_level || "personal") : null;
  const special = column.shown_special ? make("span", { class: "badge", title: "special category of personal data (GDPR, articles 9 and 10)" }, column.shown_special) : null;
  const reviewed = column.reviewed ? make("span", { class: "reviewed", title: "a person has reviewed this column" }, "✓ reviewed") : null;
  const box = make("input", { type: "checkbox", "aria-label": `choose ${column.title} as an example`, onchange: choose });
  return make(
    "th",
    { scope: "col" },
    make("label", { class: "choose" }, box, make("bdi", { class: "name" }, column.title)),
    make("div", {}, chip(column, open)),
    make("div", {}, column.sure ? sureness(column.confidence) : null),
    make("div", { class: "marks" }, badge, special, reviewed, relationText(column, isSubject, repeats)),
  );
};

const rowsOf = (preview) => {
  const length = Math.max(0, ...preview.map((cells) => cells.length));
  return Array.from({ length }, (_, row) => preview.map((cells) => cells[row] ?? ""));
};

export const tableCard = (table, entry, actions) => {
  const card = { table, entry, columns: [], element: null };
  const heads = table.columns.map((column, place) => {
    const open = () => openColumn(card, column, actions);
    const choose = (event) => { column.chosen = event.target.checked; document.dispatchEvent(new Event("chosen")); };
    return headCell(column, place === table.subject, Boolean(table.subject_repeats), open, choose);
  });
  const rows = rowsOf(table.preview).map((cells) =>
    make("tr", {}, cells.map((cell, place) =>
      make("td", { class: table.columns[place].personal ? "personal-values" : null, dir: "auto" }, make("span", {}, cell)))));
  const grid = make("table", {}, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows));
  card.lines = draw("svg", { class: "lines", "aria-hidden": "true" });
  card.scroller = make("div", { class: "preview", tabindex: 0, role: "region", "aria-label": `Preview of ${table.table}` },
    make("div", { class: "grid" }, card.lines, grid));
  card.heads = heads;
  const facts = [...(table.shown_row ? [table.shown_row] : []), amount(table.columns.length, "column"), ...(table.rows === null ? [] : [amount(table.rows, "row")]), `answered by ${table.annotator}`];
  card.element = make(
    "section",
    { class: "table", "aria-label": table.table },
    make("h2", { dir: "auto" }, table.table),
    make("p", { class: "facts", dir: "auto" }, facts.join(" · ")),
    table.shown_keys.length ? make("p", { class: "facts", dir: "auto" }, `keys: ${table.shown_keys.join("; ")}`) : null,
    table.warnings.map((warning) => make("p", { class: "warning" }, warning)),
    card.scroller,
  );
  card.columns = table.columns.map((column, place) => ({
    column,
    marks: () => [column.personal ? "personal" : "", column.shown_special ? "special" : "", column.unsure ? "unsure" : "", column.reviewed ? "reviewed" : ""],
    words: () => `${table.table} ${column.title} ${column.shown} ${column.type || ""} ${column.relation?.label || ""}`.toLowerCase(),
    show: (fits) => { for (const row of grid.rows) row.cells[place].hidden = !fits; },
  }));
  return card;
};

// An arc per relation, from the subject's header to the column's; hidden columns have none.
export const drawRelations = (card) => {
  const { table, heads, lines } = card;
  lines.replaceChildren();
  const subject = heads[table.subject];
  const grid = lines.parentElement.getBoundingClientRect();
  const middle = (head) => {
    const box = head.getBoundingClientRect();
    return box.left + box.width / 2 - grid.left;
  };
  const related = table.columns.filter((column, place) => column.relation && place !== table.subject && !heads[place].hidden);
  if (!subject || subject.hidden || !related.length || !grid.width) return;
  lines.setAttribute("width", grid.width);
  const start = middle(subject);
  for (const column of related) {
    const end = middle(heads[column.index]);
    const high = Math.max(4, 26 - Math.abs(end - start) / 30);
    lines.append(draw("path", { d: `M ${start} 30 C ${start} ${high}, ${end} ${high}, ${end} 30`, "data-kind": column.kind || "" }));
  }
  lines.append(draw("circle", { cx: start, cy: 30, r: 3 }));
};
