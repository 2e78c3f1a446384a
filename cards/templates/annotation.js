"use strict";
const forms = [...document.querySelectorAll(".question")];
const tools = document.querySelector("#tools");

function answer(form) {
  const given = Object.fromEntries(new FormData(form));
  return { choice: "", also: "", natural: "", remark: "", ...given };
}

function show() {
  const done = forms.filter((form) => answer(form).choice !== "");
  for (const form of forms) form.classList.toggle("done", done.includes(form));
  tools.querySelector("progress").value = done.length;
  tools.querySelector("output").textContent = `${done.length} / ${forms.length}`;
}

function store() {
  const all = Object.fromEntries(forms.map((form) => [form.dataset.item, answer(form)]));
  // A browser may forbid storage for a page that is a file; the download works all the same.
  try { localStorage.setItem(PLACE, JSON.stringify(all)); } catch { tools.title = "저장할 수 없습니다"; }
  show();
}

function restore() {
  let all = {};
  try { all = JSON.parse(localStorage.getItem(PLACE)) || {}; } catch { return; }
  for (const form of forms) {
    const given = all[form.dataset.item];
    if (!given) continue;
    if (given.choice !== "") form.elements.choice.value = given.choice;
    form.elements.also.value = given.also;
    form.elements.natural.checked = given.natural === "no";
    form.elements.remark.value = given.remark;
  }
}

function cell(value) {
  return /[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

function save() {
  const lines = [COLUMNS.join(",")];
  for (const form of forms) {
    const row = { ...form.dataset, ...answer(form) };
    lines.push(COLUMNS.map((name) => cell(row[name])).join(","));
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", lines.join("\r\n"), "\r\n"], { type: "text/csv" }));
  link.download = FILE;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function next() {
  const empty = forms.find((form) => answer(form).choice === "");
  if (!empty) return;
  empty.scrollIntoView({ block: "start" });
  empty.elements.choice[0].focus({ preventScroll: true });
}

document.addEventListener("input", store);
document.addEventListener("submit", (event) => event.preventDefault());
document.querySelector("#next").addEventListener("click", next);
document.querySelector("#save").addEventListener("click", save);
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input[type=text]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "n") next();
  const form = document.activeElement.closest(".question");
  if (form && /^[0-9]$/.test(event.key)) {
    form.elements.choice.value = event.key;
    store();
  }
});
restore();
show();
