// What the service does: throughput and latency live, runs, who answered which kinds of columns.
import { getJson } from "./api.js";
import { amount, draw, figure, make } from "./dom.js";

const EVERY = 2000;
let timer = 0;

const sheet = (caption, heads, rows) => make(
  "div", { class: "preview", tabindex: 0, role: "region", "aria-label": caption },
  make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, rows.map((cells) => make("tr", {}, cells.map((cell) => make("td", {}, cell)))))));

const throughput = (status) => {
  const values = status.history.map(([, columns]) => columns / status.bucket_seconds);
  const top = Math.max(1, ...values);
  const step = 600 / Math.max(1, values.length - 1);
  const points = values.map((value, place) => `${(place * step).toFixed(1)},${(78 - (74 * value) / top).toFixed(1)}`);
  const title = `Columns per second over the last ${amount(values.length * status.bucket_seconds, "second")}; at most ${figure(Math.max(0, ...values), 1)}`;
  return make("figure", {}, draw("svg", { class: "throughput", viewBox: "0 0 600 80", preserveAspectRatio: "none", role: "img", "aria-label": title },
    draw("polyline", { points: points.join(" ") })), make("figcaption", { class: "soft" }, title));
};

const milliseconds = (seconds) => (seconds === null ? "" : `${figure(1000 * seconds, 0)} ms`);

const operations = (status) => sheet("Requests by operation", ["operation", "requests", "errors", "p50", "p95", "p99", "columns or items per second"],
  status.operations.map((each) => [each.operation, String(each.calls), String(each.errors), milliseconds(each.p50), milliseconds(each.p95), milliseconds(each.p99), figure(each.items_per_second, 1)]));

const workers = (status) => {
  const { pool, limits } = status;
  return make("p", { class: "facts" }, [amount(pool.workers, "worker"), `${pool.busy} at work`, `${pool.admitted} of ${limits.queue + pool.workers} places taken`,
    amount(pool.restarts, "restart"), `${pool.refused} refused`, `up for ${amount(Math.round(status.seconds), "second")}`, `annotator ${status.annotator}`, `version ${status.version}`].join(" · "));
};

const map = (status) => {
  const names = Object.keys(status.woken);
  if (!names.length) {
    return make("p", { class: "soft" }, "No column was routed yet. The annotators dispatch (the default) and swarm route columns.");
  }
  const kinds = [...new Set(names.flatMap((name) => Object.keys(status.woken[name])))].sort();
  const most = Math.max(...names.flatMap((name) => Object.values(status.woken[name])));
  const table = sheet("Who answered which kinds of columns", ["", ...kinds], names.map((name) => [name, ...kinds.map((kind) => String(status.woken[name][kind] || ""))]));
  for (const row of table.querySelectorAll("tbody tr")) {
    for (const cell of [...row.cells].slice(1)) cell.style.setProperty("--share", String((Number(cell.textContent) || 0) / most));
    row.classList.add("heat");
  }
  return table;
};

const runs = (told) => sheet("Last annotations", ["when", "tables", "columns", "personal", "unsure", "failed", "seconds"],
  told.annotated.slice(0, 20).map((run) => [run.at.replace("T", " ").replace("+00:00", ""), run.tables.join(", "), String(run.columns), String(run.personal), String(run.unsure), String(run.failures), figure(run.seconds, 3)]));

const training = (told) => {
  if (!told.training.length) return make("p", { class: "soft" }, "No training runs are shown; start the service with --runs FOLDER.");
  const shown = make("div", { role: "status" });
  const open = async (name) => {
    try {
      const run = await getJson(`/runs/${encodeURIComponent(name)}`);
      const findings = run.health.findings || [];
      shown.replaceChildren(make("h3", {}, `${run.run}: ${amount(run.steps, "recorded step")}, last step ${run.last_step ?? "none"}`),
        make("ul", {}, findings.filter((each) => each.verdict !== "unknown").slice(0, 12).map((each) => make("li", {}, `${each.verdict}: ${each.sentence}`))));
    } catch (error) {
      shown.replaceChildren(make("p", { class: "warning" }, error.message));
    }
  };
  return make("div", {}, make("ul", { class: "buttons" }, told.training.map((name) => make("li", {}, make("button", { type: "button", onclick: () => open(name) }, name)))), shown);
};

let panel = null;

const build = (place) => {
  const part = (title) => {
    const body = make("div", {});
    return { body, element: make("section", { class: "table" }, make("h2", {}, title), body) };
  };
  const parts = { live: part("Now"), latency: part("Latency"), map: part("Routing"), runs: part("Runs"), training: part("Training runs") };
  place.replaceChildren(...Object.values(parts).map((each) => each.element));
  return parts;
};

const refresh = async (place) => {
  const problem = place.querySelector(".warning");
  try {
    const [status, told] = await Promise.all([getJson("/status"), getJson("/runs")]);
    if (!panel || problem) panel = build(place);
    panel.live.body.replaceChildren(workers(status), throughput(status));
    panel.latency.body.replaceChildren(operations(status));
    panel.map.body.replaceChildren(map(status));
    panel.runs.body.replaceChildren(runs(told));
    if (panel.names !== told.training.join("\n")) {
      panel.names = told.training.join("\n");
      panel.training.body.replaceChildren(training(told));
    }
  } catch (error) {
    panel = null;
    place.replaceChildren(make("p", { class: "warning" }, error.message));
  }
};

export const showActivity = (place) => {
  stopActivity();
  refresh(place);
  timer = setInterval(() => { if (!document.hidden) refresh(place); }, EVERY);
};

export const stopActivity = () => clearInterval(timer);
