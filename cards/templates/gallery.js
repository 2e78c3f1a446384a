function fits(item, wanted) {
  return (!wanted.group || item.dataset.group === wanted.group)
    && (!wanted.split || item.dataset.split === wanted.split)
    && hasConfig(item, wanted.config);
}

function dimKinds() {
  const kinds = new Set([...form.querySelectorAll("[name=kind]:checked")].map((box) => box.value));
  for (const candidate of document.querySelectorAll("li.candidate")) {
    candidate.classList.toggle("dim", !kinds.has(candidate.dataset.kind));
  }
}

function pictureOf(button) {
  const { backgroundImage } = getComputedStyle(button);
  // Its name says which kind it is.
  return { image: backgroundImage, name: isBlind() ? "" : button.getAttribute("aria-label") };
}

form.addEventListener("input", dimKinds);
form.addEventListener("reset", () => setTimeout(dimKinds));
document.addEventListener("click", (event) => {
  const button = event.target.closest(".candidate button");
  if (button) enlarge(button);
});
dimKinds();
filter();
