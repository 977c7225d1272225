// The page: files in, tables out, tabs, filter and export.
import { getJson, postFiles } from "./api.js";
import { showActivity, stopActivity } from "./activity.js";
import { amount, byId, make } from "./dom.js";
import { drawRelations, tableCard } from "./table.js";
import { prepareTeaching, updateTeaching } from "./teach.js";

const AT_ONCE = 4;
const files = new Map(); // name -> { file, cards, place }

const say = (sentence) => { byId("progress").textContent = sentence; };

const complain = (sentence) => {
  byId("problems").append(make("p", { class: "warning" }, sentence));
};

// Two files of one name: the second gets a number, as browsers give downloads.
const named = (file) => {
  let name = file.name;
  for (let number = 2; files.has(name); number += 1) {
    const dot = file.name.indexOf(".", 1);
    name = dot < 0 ? `${file.name} (${number})` : `${file.name.slice(0, dot)} (${number})${file.name.slice(dot)}`;
  }
  return name === file.name ? file : new File([file], name, { type: file.type });
};

const annotate = async (entry) => {
  const response = await postFiles("/annotate?format=report", [entry.file]);
  const report = await response.json();
  const cards = report.tables.map((table) => tableCard(table, entry, { say, annotate: () => annotate(entry) }));
  entry.place.replaceChildren(...cards.map((card) => card.element));
  entry.cards = cards;
  for (const failure of report.failures) complain(failure.reason);
  if (!cards.length) files.delete(entry.file.name);
  apply();
  for (const card of cards) drawRelations(card);
  updateTeaching(files);
};

const add = async (given) => {
  const waiting = [...given].map((file) => {
    const entry = { file: named(file), cards: [], place: make("div") };
    files.set(entry.file.name, entry);
    byId("results").append(entry.place); // here, so that tables stand in the order of the files
    return entry;
  });
  byId("problems").replaceChildren();
  let done = 0;
  const total = waiting.length;
  const work = async () => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
      say(`Annotating ${entry.file.name} (${done + 1} of ${total}) …`);
      try {
        await annotate(entry);
      } catch (error) {
        files.delete(entry.file.name);
        complain(error.message);
      }
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  say(total ? `${amount(done, "file")} done.` : "");
};

const cards = () => [...files.values()].flatMap((entry) => entry.cards);

const apply = () => {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const mark = byId("show").value;
  let shown = 0;
  let total = 0;
  for (const card of cards()) {
    let some = false;
    card.columns.forEach((column) => {
      const fits = (!mark || column.marks().includes(mark)) && words.every((word) => column.words().includes(word));
      column.show(fits);
      some ||= fits;
      shown += fits;
      total += 1;
    });
    card.element.hidden = !some && total > 0;
    drawRelations(card);
  }
  byId("filter").hidden = total === 0;
  byId("count").textContent = shown === total ? amount(total, "column") : `${shown} of ${amount(total, "column")}`;
};

const download = async () => {
  const format = byId("format").value;
  const endings = { text: "txt", frictionless: "json", csvw: "json", dbt: "yml" };
  try {
    const response = await postFiles(`/annotate?format=${encodeURIComponent(format)}`, [...files.values()].map((entry) => entry.file));
    const link = make("a", { href: URL.createObjectURL(await response.blob()), download: `annotations.${endings[format] || format}` });
    link.click();
    URL.revokeObjectURL(link.href);
    say(`Exported as ${format}.`);
  } catch (error) {
    complain(error.message);
  }
};

const select = (tab) => {
  for (const each of document.querySelectorAll("[role=tab]")) {
    const chosen = each === tab;
    each.setAttribute("aria-selected", String(chosen));
    each.tabIndex = chosen ? 0 : -1;
    byId(each.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (tab.id === "tab-activity") showActivity(byId("activity"));
  else stopActivity();
};

const listen = () => {
  const drop = byId("drop");
  byId("files").addEventListener("change", (event) => {
    add(event.target.files).then(() => { event.target.value = ""; });
  });
  byId("files").addEventListener("focus", () => drop.classList.add("focused"));
  byId("files").addEventListener("blur", () => drop.classList.remove("focused"));
  drop.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = byId("pasted").value;
    if (text.trim()) add([new File([text], "pasted.csv", { type: "text/csv" })]);
  });
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop") add(event.dataTransfer.files);
    });
  }
  byId("search").addEventListener("input", apply);
  byId("show").addEventListener("change", apply);
  byId("mask").addEventListener("change", (event) => document.body.classList.toggle("masked", event.target.checked));
  byId("export").addEventListener("click", download);
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(place + step + tabs.length) % tabs.length];
      next.focus();
      select(next);
    });
  });
  let resizing = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(() => cards().forEach(drawRelations));
  });
};

const start = async () => {
  listen();
  let service;
  try {
    service = await getJson("/status");
  } catch (error) {
    complain(error.message);
    return;
  }
  byId("format").append(...service.formats.map((name) => make("option", { value: name }, name)));
  byId("format").value = "json";
  prepareTeaching(service.kinds, files, { say, complain, annotate });
};

start();
