// Changes of the observations in lists: one that has the focus, or those that were chosen. Each has
// its undo, which is for all of them.
import { call, say, why, writable } from "./api.js";

const path = (id) => `/api/observations/${id}`;
const rowsOf = (id) => document.querySelectorAll(`[data-id="observation-${id}"]`);
const idOf = (row) => Number(row.dataset.id.replace("observation-", ""));
const isPinned = (id) => [...rowsOf(id)].some((row) => row.querySelector("[data-pinned]"));

/** each makes a change of every record and returns those that it changed; what was refused is said. */
async function each(ids, change) {
  const done = [];
  try {
    for (const id of ids) {
      await change(id);
      done.push(id);
    }
  } catch (error) {
    if (done.length === 0) throw error;
    say(`${done.length} of ${ids.length} changed. ${error.message}`);
  }
  return done;
}

/** name returns what a message calls records. */
const name = (ids) => ids.length === 1 ? `#${ids[0]}` : `${ids.length} records`;

/** pin pins observations or unpins them. */
async function pin(ids, pinned) {
  const set = async (all, on) => {
    const done = await each(all, (id) => call("PATCH", path(id), { pinned: on }));
    for (const row of done.flatMap((id) => [...rowsOf(id)])) {
      row.querySelector("[data-pinned]")?.remove();
      if (!on) continue;
      const flag = document.createElement("span");
      flag.className = "flag";
      flag.dataset.pinned = "";
      flag.textContent = "pinned";
      (row.querySelector(".meta") ?? row).append(flag);
    }
    return done;
  };
  const done = await set(ids.filter((id) => isPinned(id) !== pinned), pinned);
  say(`${name(ids)} ${ids.length > 1 ? "are" : "is"} ${pinned ? "pinned" : "not pinned"}`, () => set(done, !pinned));
}

/** reveal shows the rows of records, or takes them away. */
function reveal(ids, on) {
  for (const row of ids.flatMap((id) => [...rowsOf(id)])) row.hidden = !on;
}

/** hide hides observations; the focus goes to the record that follows. */
async function hide(ids) {
  const done = await each(ids, (id) => call("DELETE", path(id)));
  const titles = [...document.querySelectorAll("summary.row, [data-id] a.title")];
  const at = titles.findIndex((title) => title.closest("[data-id]") === document.activeElement.closest("[data-id]"));
  reveal(done, false);
  if (at >= 0) titles.slice(at).find((title) => title.checkVisibility())?.focus(); // not what is folded
  say(`${name(done)} ${done.length > 1 ? "are" : "is"} hidden and will be deleted in 10 minutes`, async () => {
    reveal(await each(done, (id) => call("POST", `${path(id)}/restore`)), true);
  });
}

/** merge makes one of observations; the rows of the others go. */
async function merge(ids) {
  const change = (body) => call("POST", path("merge"), body);
  const done = await change({ ids });
  reveal(done.ids, false);
  say(`${name(done.ids)} merged into #${done.into}`, async () => {
    await change({ ...done, undo: true });
    reveal(done.ids, true);
  });
}

/** act does what a key means to the row that has the focus, or else to the page's own record. */
export async function act(action) {
  let row = document.activeElement.closest("[data-id]");
  if (!row) return document.querySelector(`[data-do=${action}]:enabled`)?.click();
  if (!writable) return say(why);
  if (row.matches(".turn")) { // it means its only observation
    const [only, second] = row.querySelectorAll("[data-id^=observation-]");
    row = second ? row : only ?? row;
  }
  if (!row.dataset.id.startsWith("observation-")) return say("Only observations are pinned, hidden and edited");
  const id = idOf(row);
  try {
    if (action === "pin") await pin([id], !isPinned(id));
    if (action === "hide") await hide([id]);
    if (action === "edit") location.assign(`/observation/${id}#edit`);
  } catch (error) {
    say(error.message);
  }
}

const choose = document.getElementById("choose");
const bulk = document.getElementById("bulk");
const results = document.getElementById("results");
const chosen = new Set();

/** show puts a box before each title while records are chosen, and says how many are. */
function show() {
  const on = choose.getAttribute("aria-pressed") === "true";
  const rows = [...results.querySelectorAll("[data-id^=observation-]:not([hidden])")].filter((row) => row.querySelector("a.title"));
  const there = new Set(rows.map(idOf));
  for (const id of chosen) {
    if (!on || !there.has(id)) chosen.delete(id);
  }
  for (const box of results.querySelectorAll("input.choice")) {
    if (!on) box.remove();
  }
  if (on) for (const folded of results.querySelectorAll(".turn > details")) folded.open = true;
  for (const row of on ? rows : []) {
    let box = row.querySelector("input.choice");
    if (!box) {
      box = document.createElement("input");
      box.type = "checkbox";
      box.className = "choice";
      box.setAttribute("aria-label", `Choose #${idOf(row)}`);
      row.querySelector("a.title").before(box);
    }
    box.checked = chosen.has(idOf(row));
  }
  bulk.hidden = !on;
  bulk.querySelector("output").value = `${chosen.size} chosen`;
  for (const button of bulk.querySelectorAll("[data-bulk=pin], [data-bulk=hide], [data-bulk=merge]")) button.disabled = chosen.size < (button.dataset.bulk === "merge" ? 2 : 1);
}

if (choose && results && writable) {
  choose.hidden = false;
  choose.addEventListener("click", () => {
    choose.setAttribute("aria-pressed", choose.getAttribute("aria-pressed") !== "true");
    show();
  });
  results.addEventListener("change", (event) => {
    if (!event.target.matches("input.choice")) return;
    const id = idOf(event.target.closest("[data-id]"));
    if (event.target.checked) chosen.add(id); else chosen.delete(id);
    show();
  });
  bulk.addEventListener("click", async (event) => {
    const ids = [...chosen];
    try {
      switch (event.target.closest("[data-bulk]")?.dataset.bulk) {
        case "pin": await pin(ids, true); break;
        case "hide": await hide(ids); break;
        case "merge": await merge(ids); break;
        case "all": for (const row of results.querySelectorAll("[data-id^=observation-]:not([hidden])")) chosen.add(idOf(row)); break;
        case "done": choose.click(); choose.focus(); break;
      }
      show();
    } catch (error) {
      say(error.message);
    }
  });
  // The live feed and the search replace the rows.
  new MutationObserver((changes) => {
    if (!bulk.hidden && changes.some((c) => c.target === results)) show();
  }).observe(results, { childList: true });
}
