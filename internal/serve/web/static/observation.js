// Changes of an observation: edit, pin, hide, each with its undo.
import { call, fragment, lock, say, writable } from "./api.js";
import "./forget.js";

const place = document.getElementById("observation");
const record = () => place.querySelector("[data-observation]");
const path = () => `/api/observations/${record().dataset.observation}`;

/** show renders the page's part anew and wires its buttons. */
async function show() {
  place.innerHTML = await fragment(location.href);
  wire();
}

/** change sends fields and offers to send the former ones. */
async function change(fields, former, message) {
  const own = path();
  await call("PATCH", own, fields);
  await show();
  say(message, async () => {
    await call("PATCH", own, former);
    await show();
  });
}

async function hide() {
  const own = path();
  const hidden = await call("DELETE", own);
  record().hidden = true;
  say(`#${hidden.id} is hidden and will be deleted in 10 minutes`, async () => {
    await call("POST", `${own}/restore`);
    await show();
  });
}

/** edit opens the form and sends what was changed in it. */
function edit() {
  const dialog = document.getElementById("edit");
  const form = dialog.querySelector("form");
  form.reset();
  dialog.returnValue = "cancel";
  dialog.addEventListener("close", attempt(async () => {
    if (dialog.returnValue !== "save") return;
    const fields = {}, former = {};
    for (const input of form.elements) {
      const before = input.tagName === "SELECT" ? [...input.options].find((o) => o.defaultSelected)?.value : input.defaultValue;
      if (!input.name || input.value === before) continue;
      fields[input.name] = input.value;
      former[input.name] = before;
    }
    if (Object.keys(fields).length > 0) await change(fields, former, "Saved");
  }), { once: true });
  dialog.showModal();
}

/** attempt returns a handler that shows the error of an action. */
function attempt(action) {
  return async () => {
    try {
      await action();
    } catch (error) {
      say(error.message);
    }
  };
}

function wire() {
  const pinned = record()?.dataset.pinned === "true";
  const actions = {
    edit,
    hide,
    pin: () => change({ pinned: !pinned }, { pinned }, pinned ? "Not pinned any more" : "Pinned"),
  };
  for (const button of place.querySelectorAll("button[data-do]")) {
    if (button.dataset.do === "pin") button.textContent = pinned ? "Unpin" : "Pin";
    button.addEventListener("click", attempt(actions[button.dataset.do]));
  }
  lock();
}

wire();
if (location.hash === "#edit" && writable) edit();
