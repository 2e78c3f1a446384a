"use strict";
const form = document.querySelector(".bar form");
const items = [...document.querySelectorAll(".item")];
const none = document.querySelector(".none");
const count = form.querySelector("output");
const texts = new Map(items.map((item) => [item, item.textContent.normalize("NFC").toLowerCase()]));

function filter() {
  const wanted = Object.fromEntries(new FormData(form));
  const kinds = new Set([...form.querySelectorAll("[name=kind]:checked")].map((box) => box.value));
  const words = (wanted.search || "").normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const item of items) {
    const fits = (!wanted.group || item.dataset.group === wanted.group)
      && (!wanted.split || item.dataset.split === wanted.split)
      && (!wanted.config || item.querySelector(`dd[data-config="${wanted.config}"]`) !== null)
      && words.every((word) => texts.get(item).includes(word));
    item.hidden = !fits;
    shown += fits;
  }
  for (const wording of document.querySelectorAll("[data-config]")) {
    wording.hidden = Boolean(wanted.config) && wording.dataset.config !== wanted.config;
  }
  for (const candidate of document.querySelectorAll("li.candidate")) {
    candidate.classList.toggle("dim", !kinds.has(candidate.dataset.kind));
  }
  document.body.classList.toggle("blind", Boolean(wanted.blind));
  count.textContent = shown === items.length ? `${shown}` : `${shown} / ${items.length}`;
  none.hidden = shown > 0;
}

function move(step) {
  const visible = items.filter((item) => !item.hidden);
  if (visible.length === 0) return;
  const at = visible.indexOf(document.activeElement.closest(".item"));
  const next = visible[Math.min(Math.max(at + step, 0), visible.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "start" });
}

function enlarge(button) {
  const dialog = document.querySelector("#picture");
  const large = dialog.querySelector(".large");
  large.style.backgroundImage = getComputedStyle(button).backgroundImage;
  const named = document.body.classList.contains("blind") ? "" : button.getAttribute("aria-label");
  dialog.querySelector("p").textContent = named;
  dialog.querySelector(".credit").textContent = button.dataset.credit || "";
  dialog.showModal();
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => form.elements.search.focus(),
  b: () => form.elements.blind.click(),
  "?": () => document.querySelector("#keys").showModal(),
};

form.addEventListener("input", filter);
form.addEventListener("change", filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter));
document.querySelector("#help").addEventListener("click", () => document.querySelector("#keys").showModal());
document.addEventListener("click", (event) => {
  const button = event.target.closest(".candidate button");
  if (button) enlarge(button);
  if (event.target.matches("dialog")) event.target.close();
});
filter();
