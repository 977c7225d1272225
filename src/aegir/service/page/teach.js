// Teach a type from chosen columns, and show what it would do to other columns.
import { postFiles, send } from "./api.js";
import { forgetNames } from "./column.js";
import { amount, byId, make } from "./dom.js";

let known = new Map();

const chosen = () => [...known.values()].flatMap((entry) =>
  entry.cards.flatMap((card) => card.table.columns.filter((column) => column.chosen).map((column) => ({ entry, card, column }))));

export const updateTeaching = (files) => {
  known = files;
  const count = chosen().length;
  byId("teach").hidden = count === 0;
  byId("chosen").textContent = `${amount(count, "column")} chosen. Teach a type by them: five columns or more are best; fewer will do when they are long.`;
};

// A header names a column if no other column of its table has it; else its number does.
const example = ({ entry, card, column }) => {
  const twins = card.table.columns.filter((each) => each.name === column.name).length;
  const part = card.table.table.slice(entry.file.name.length + 1);
  const place = { file: entry.file.name, column: column.name && twins === 1 ? column.name : column.index };
  return part ? { ...place, table: part } : place;
};

const report = (said) => {
  const line = (name, text) => [make("dt", {}, name), make("dd", {}, text)];
  const so_far = Object.entries(said.so_far).map(([label, count]) => `${label} (${count})`).join(", ");
  return make(
    "dl",
    { class: "lesson" },
    line("Learnt from", `${amount(said.columns, "column")} of ${amount(said.files, "file")}, ${amount(said.parts, "example")}`),
    line("Answered so far", so_far || "nothing"),
    line("Recognised", `${said.recognised} of ${amount(said.parts, "example")}, held out; ${said.recognised_without_header} with the header hidden`),
    line("False alarms", `${said.taken} of ${said.known.toLocaleString("en")} known columns of other types`),
    said.disguised ? line("False alarms", `${said.disguised_taken} of ${said.disguised} known columns under the examples' headers`) : [],
    said.neighbours ? line("False alarms", `${said.neighbours_taken} of ${amount(said.neighbours, "column")} beside the examples`) : [],
  );
};

const show = (title, said, undo) => {
  const lesson = byId("lesson");
  lesson.hidden = false;
  lesson.replaceChildren(make("h2", {}, title), said.parts === undefined ? "" : report(said), undo || "");
};

export const prepareTeaching = (kinds, files, { say, complain, annotate }) => {
  byId("type-kind").append(...kinds.map((kind) => make("option", { value: kind }, kind)));
  byId("type-kind").value = "category";
  document.addEventListener("chosen", () => updateTeaching(files));
  const again = async () => {
    forgetNames();
    for (const entry of files.values()) await annotate(entry);
  };
  const clear = () => {
    for (const { column } of chosen()) column.chosen = false;
    for (const box of document.querySelectorAll(".choose input")) box.checked = false;
    updateTeaching(files);
  };
  byId("teach-cancel").addEventListener("click", clear);
  byId("teach").addEventListener("submit", async (event) => {
    event.preventDefault();
    const columns = chosen();
    const sent = [...new Set(columns.map(({ entry }) => entry.file))];
    const name = byId("type-name").value.trim();
    const type = {
      name,
      examples: columns.map(example),
      kind: byId("type-kind").value,
      about: byId("type-about").value,
      personal: byId("type-personal").checked,
    };
    say(`Learning ${name} …`);
    try {
      const said = await (await postFiles("/types", sent, { type: JSON.stringify(type) })).json();
      const forget = async () => {
        try {
          await send(`/types/${name.split("/").map(encodeURIComponent).join("/")}`, { method: "DELETE" });
          byId("lesson").hidden = true;
          await again();
          say(`${name} is forgotten.`);
        } catch (error) {
          complain(error.message);
        }
      };
      show(`${name} is learnt`, said, make("button", { type: "button", onclick: forget }, "Forget it"));
      clear();
      await again();
      say(`${name} is kept; tables were annotated again.`);
    } catch (error) {
      say("");
      if (error.said) show(error.message, error.said);
      else complain(error.message);
    }
  });
};
