// Does what the page's own `keys` says, except while somebody types or a dialog is open.
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input[type=search], select");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const action = keys[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});
