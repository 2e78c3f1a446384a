"use strict";
// What pages of many items share: they are found by words and by the page's own `fits`, and walked through by keys.
const form = document.querySelector(".bar form");
const items = [...document.querySelectorAll(".item")];
const texts = new Map();

function textOf(item) {
  // Thousands of texts are read only once somebody searches.
  if (!texts.has(item)) texts.set(item, item.textContent.normalize("NFC").toLowerCase());
  return texts.get(item);
}

function filter() {
  const wanted = Object.fromEntries(new FormData(form));
  const words = wanted.search.normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const item of items) {
    const found = fits(item, wanted) && words.every((word) => textOf(item).includes(word));
    item.hidden = !found;
    shown += found;
  }
  form.querySelector("output").textContent = shown === items.length ? `${shown}` : `${shown} / ${items.length}`;
  document.querySelector(".none").hidden = shown > 0;
}

function move(step) {
  const visible = items.filter((item) => !item.hidden);
  if (visible.length === 0) return;
  const at = visible.indexOf(document.activeElement.closest(".item"));
  const next = visible[Math.min(Math.max(at + step, 0), visible.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "start" });
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => form.elements.search.focus(),
  "?": () => document.querySelector("#keys").showModal(),
};

form.addEventListener("input", filter);
form.addEventListener("change", filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter));
document.querySelector("#help").addEventListener("click", keys["?"]);
document.addEventListener("click", (event) => {
  if (event.target.matches("dialog")) event.target.close();
});
