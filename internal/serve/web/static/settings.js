// Settings are changed one by one, each with its undo. Below those of the context block stands the
// block as it would be, before anything is saved.
import { call, fragment, lock, say } from "./api.js";

const place = document.getElementById("settings");
const preview = document.getElementById("preview");
const field = (form) => form.elements.value;
const before = (input) => input.tagName === "SELECT" ? [...input.options].find((o) => o.defaultSelected)?.value : input.defaultValue;
const forms = (group) => [...place.querySelectorAll(`form[data-group="${group}"]`)];
let running = null;
let waiting = 0;

/** mark shows which values are not saved. */
function mark() {
  for (const form of place.querySelectorAll("form[data-setting]")) form.classList.toggle("dirty", field(form).value !== before(field(form)));
}

/** render puts the row of a setting in place anew; what is typed in others stays. */
async function render(name) {
  const anew = document.createElement("template");
  anew.innerHTML = await fragment(location.href);
  const row = document.getElementById(name);
  const next = anew.content.getElementById(name);
  if (next) row.replaceWith(next); else row.remove();
  lock();
  mark();
  next?.querySelector("[name=value]")?.focus();
}

/** change saves a value, "" for the default, and offers the former one. */
async function change(name, value, former) {
  const { setting, at_once, notes } = await call("POST", "/api/admin/settings", { key: name, value });
  await render(name);
  say([`${name} is ${setting.value || "empty"}${at_once ? "" : "; claude-mem worker restart applies it"}`, ...notes].join(". "), async () => {
    await call("POST", "/api/admin/settings", { key: name, value: former });
    await render(name);
  });
}

/** look shows the block with the values of the page, saved or not. */
async function look() {
  running?.abort();
  running = new AbortController();
  const url = new URL("/context", location.href);
  for (const form of forms("context")) {
    if (form.matches(".dirty")) url.searchParams.append("settings", `${form.dataset.setting}=${field(form).value}`);
  }
  preview.setAttribute("aria-busy", "true");
  try {
    const html = await fragment(url, running.signal);
    preview.hidden = false;
    preview.firstElementChild.innerHTML = html;
  } catch (error) {
    if (error.name === "AbortError") return;
    say("The worker does not answer");
  }
  preview.setAttribute("aria-busy", "false");
}

/** leave hides the block when a setting of another group is worked on, and reports whether one is. */
function leave(event) {
  const other = event.target.form?.dataset.group !== "context";
  preview.hidden ||= other;
  return other;
}

place.addEventListener("focusin", leave);
place.addEventListener("input", (event) => {
  event.target.setCustomValidity("");
  mark();
  if (leave(event)) return;
  clearTimeout(waiting);
  waiting = setTimeout(look, 80);
});

/** save changes the setting of a form and shows why that is refused where it was typed. */
async function save(form, value) {
  try {
    await change(form.dataset.setting, value, form.dataset.own);
  } catch (error) {
    field(form).setCustomValidity(error.message);
    field(form).reportValidity();
  }
}

place.addEventListener("submit", (event) => {
  event.preventDefault();
  save(event.target, field(event.target).value);
});
place.addEventListener("click", (event) => {
  const button = event.target.closest("[data-default]");
  if (button) save(button.form, "");
});

lock();
mark();
