// What both galleries share: wordings of one config, answers hidden, pictures made large by the page's own `pictureOf`.
const dialog = document.querySelector("#picture");

function isBlind() {
  return document.body.classList.contains("blind");
}

function hasConfig(item, config) {
  return !config || item.querySelector(`[data-config="${config}"]`) !== null;
}

function enlarge(button) {
  const { image, name } = pictureOf(button);
  dialog.querySelector(".large").style.backgroundImage = image;
  dialog.querySelector("p").textContent = name;
  dialog.querySelector(".credit").textContent = button.dataset.credit || "";
  dialog.showModal();
}

function showWanted() {
  const { config } = form.elements;
  const wanted = config ? config.value : "";
  for (const wording of document.querySelectorAll("[data-config]")) {
    wording.hidden = wanted !== "" && wording.dataset.config !== wanted;
  }
  document.body.classList.toggle("blind", form.elements.blind.checked);
}

keys.b = () => form.elements.blind.click();
for (const kind of ["input", "change"]) form.addEventListener(kind, showWanted);
form.addEventListener("reset", () => setTimeout(showWanted));
showWanted();
