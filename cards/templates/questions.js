function fits(item, wanted) {
  return ["category", "split", "pictures"].every((name) => !wanted[name] || item.dataset[name] === wanted[name])
    && hasConfig(item, wanted.config);
}

function pictureOf(button) {
  return { image: `url("${button.querySelector("img").src}")`, name: button.getAttribute("aria-label") };
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("figure button");
  if (button) enlarge(button);
});
filter();
