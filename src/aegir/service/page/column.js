// What is known about one column, and what a person has to say about it.
import { getJson, postFiles } from "./api.js";
import { byId, figure, make, sureness } from "./dom.js";

let names = null;

// All names that a column may have, fetched when the first column is opened.
const knownNames = async () => {
  names ||= (await getJson("/types")).types.filter((each) => each.level !== "relation").map((each) => each.name);
  return names;
};

export const forgetNames = () => { names = null; };

const guesses = (title, list) => {
  const likely = list.filter((guess) => guess.confidence >= 0.005);
  if (!likely.length) return null;
  return [
    make("h3", {}, title),
    make("dl", { class: "guesses" }, likely.flatMap((guess) => [make("dt", {}, guess.label), make("dd", {}, sureness(guess.confidence))])),
  ];
};

// The example in a reason is a value: hidden with the others where personal values are.
const EXAMPLE = ", such as ";
const reasonParts = (column, reason) => {
  const at = reason.indexOf(EXAMPLE);
  if (at < 0 || !column.personal) return [reason];
  return [reason.slice(0, at + EXAMPLE.length), make("span", { class: "personal-values" }, make("span", {}, reason.slice(at + EXAMPLE.length)))];
};

const routing = (card, column) => {
  const shown = [];
  const steps = card.table.decisions?.[column.index];
  if (steps) {
    shown.push(make("h3", {}, "Who answered"), make("ol", {}, steps.map((step) => make(
      "li", {},
      `${step.worker}, by ${step.decided_by}: ${step.reason} (cost ${figure(step.cost, 2)}, ${figure(1000 * step.seconds, 1)} ms, propensity ${step.propensity === null ? "unknown" : figure(step.propensity)})`,
    ))));
  }
  if (column.routing_scores) {
    const woken = new Set(column.routing.map((each) => each.specialist));
    shown.push(make("h3", {}, "Specialists, by the router's score"), make("dl", { class: "guesses" },
      Object.entries(column.routing_scores).sort((a, b) => b[1] - a[1]).flatMap(([name, score]) => [
        make("dt", {}, woken.has(name) ? `${name}, woken` : name), make("dd", {}, sureness(score))])));
  }
  const answered = make("p", { class: "soft" }, `Answered by ${card.table.annotator}.`);
  return shown.length ? [answered, make("details", {}, make("summary", {}, "Details"), ...shown)] : [answered];
};

const review = (card, column, actions, dialog) => {
  const told = make("p", { role: "status" });
  const label = make("input", { id: "correct-label", list: "type-names", autocomplete: "off" });
  const list = make("datalist", { id: "type-names" });
  knownNames().then((all) => list.append(...all.map((name) => make("option", { value: name })))).catch(() => {});
  const say = async (given) => {
    const correction = { table: card.table.table, column: column.index, label: given };
    try {
      await postFiles("/feedback", [card.entry.file], { corrections: JSON.stringify([correction]) });
      dialog.close();
      await actions.annotate();
      actions.say(`${column.title} is remembered.`);
    } catch (error) {
      told.textContent = error.message;
    }
  };
  return make(
    "form",
    {
      class: "review",
      onsubmit: (event) => { event.preventDefault(); if (label.value.trim()) say(label.value.trim()); },
    },
    make("h3", {}, column.reviewed ? "Reviewed; review it again" : "Is this right?"),
    make("div", { class: "buttons" },
      make("button", { type: "button", disabled: column.label === null, onclick: () => say(column.label) }, "Accept"),
      make("button", { type: "button", onclick: () => say(null) }, "No name fits"),
    ),
    make("label", { for: "correct-label" }, "It is rather"),
    make("div", { class: "buttons" }, label, list, make("button", { type: "submit" }, "Correct")),
    (column.offers || []).length ? [make("h3", {}, "Offered, from reviews of similar columns"), make("ul", {}, column.offers.map((offer, place) =>
      make("li", {}, `${column.shown_offers[place]} `, make("button", { type: "button", onclick: () => say(offer.label) }, "Use it"))))] : [],
    told,
  );
};

export const openColumn = (card, column, actions) => {
  const dialog = byId("column");
  const facts = [`column ${column.index + 1}`, column.kind ? `kind ${column.kind}` : null, `stored as ${column.datatype}`,
    column.all_missing ? "every value is missing" : null, column.shown_declared ? `declared as ${column.shown_declared}` : null,
    column.type ? `type ${column.shown_type} ${figure(column.type_confidence)}` : `none of the column types ${figure(column.type_confidence)}`];
  dialog.replaceChildren(
    make("form", { method: "dialog", class: "close" }, make("button", { type: "submit", "aria-label": "Close" }, "✕")),
    make("h2", { id: "column-name", dir: "auto" }, column.title),
    make("p", {}, make("span", { class: `chip ${column.kind ? `kind-${column.kind}` : ""}` }, column.shown), " ", column.sure ? sureness(column.confidence) : ""),
    ...column.meanings.map(([name, meaning]) => make("p", {}, make("b", {}, name), `: ${meaning}`)),
    ...(column.shown_review ? [make("p", { class: "reviewed" }, column.shown_review)] : []),
    ...(column.reasons.length ? [make("h3", {}, "Why"), make("ul", {}, column.reasons.map((reason) => make("li", {}, ...reasonParts(column, reason))))] : []),
    ...(column.personal ? [make("h3", {}, "Personal data"), make("p", {}, `${column.personal_level || "yes"}: ${column.shown_personal}`)] : []),
    ...(guesses(column.label ? "Next best" : "Perhaps", column.runners_up) || []),
    ...(guesses("Other relations", column.relation_runners_up) || []),
    ...(column.shown_statistics ? [make("h3", {}, "Statistics"), make("p", { dir: "auto" }, column.shown_statistics.join("; "))] : []),
    ...routing(card, column),
    make("p", { class: "soft" }, facts.filter(Boolean).join(" · ")),
    review(card, column, actions, dialog),
  );
  dialog.showModal();
};
