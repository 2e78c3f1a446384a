const hosts = new Map(items.map((item) => [item, JSON.parse(item.dataset.hosts)]));

function fits(item, wanted) {
  return (!wanted.outcome || item.dataset.outcome === wanted.outcome)
    && (!wanted.host || hosts.get(item).includes(wanted.host));
}

function choose(button) {
  form.reset();
  form.elements[button.dataset.filter].value = button.dataset.value;
  filter();
  form.scrollIntoView({ block: "start" });
}

document.querySelector("#clear").addEventListener("click", () => {
  form.reset();
  filter();
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-filter]");
  if (button) choose(button);
});
filter();
