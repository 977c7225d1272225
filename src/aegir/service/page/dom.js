// Elements from text: whatever a file holds becomes text, never markup.

export const byId = (id) => document.getElementById(id);

// make("button", { class: "chip", onclick: open }, "text", otherElement)
export const make = (tag, options = {}, ...children) => fill(document.createElement(tag), options, children);

const SVG = "http://www.w3.org/2000/svg";
export const draw = (tag, options = {}, ...children) => fill(document.createElementNS(SVG, tag), options, children);

const fill = (element, options, children) => {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
};

export const figure = (value, digits = 2) => (value === null || value === undefined ? "" : value.toFixed(digits));

export const amount = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

// A bar and the number it stands for, as on the page of `aegir annotate --format html`.
export const sureness = (confidence) => {
  const trust = confidence >= 0.8 ? "sure" : confidence < 0.495 ? "weak" : "fair";
  return make(
    "span",
    { class: "sureness" },
    draw(
      "svg",
      { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      draw("rect", { class: "track", width: 100, height: 10, rx: 4 }),
      draw("rect", { class: trust, width: Math.round(100 * confidence), height: 10, rx: 4 }),
    ),
    make("span", { class: "number" }, figure(confidence)),
  );
};
