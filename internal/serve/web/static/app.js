// What every page has: theme, keyboard, help. Reading works without it.
import { undo } from "./api.js";
import { open } from "./palette.js";
import { act } from "./rows.js";

const root = document.documentElement;

// Without the worker a bookmark shows how to start it. Only a page at a loopback name may have this.
navigator.serviceWorker?.register("/static/sw.js", { scope: "/" }).catch(() => {});

document.getElementById("theme").addEventListener("click", () => {
  const dark = getComputedStyle(root).colorScheme === "dark" ||
    (getComputedStyle(root).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const next = dark ? "light" : "dark";
  root.dataset.theme = next;
  document.cookie = `claude_mem_theme=${next}; path=/; max-age=31536000; samesite=strict`;
});

// With many pages the navigation scrolls on a phone.
document.querySelector("nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

const help = document.getElementById("help");
document.getElementById("help-button").addEventListener("click", () => help.showModal());
document.getElementById("palette-button").addEventListener("click", open);

/** move sets the focus on the row after or before the one that has it: a turn, or a record of one
 * that is not folded. */
function move(step) {
  const titles = [...document.querySelectorAll("summary.row, .row:not([hidden]) a.title")].filter((e) => e.matches("summary") || !e.closest("details:not([open])"));
  if (titles.length === 0) return;
  const row = document.activeElement.closest(".row");
  const at = row ? titles.findIndex((e) => e.closest(".row") === row) : (step > 0 ? -1 : titles.length);
  const next = titles[Math.min(titles.length - 1, Math.max(0, at + step))];
  next.focus();
  next.closest(".row").scrollIntoView({ block: "nearest" });
}

/** search focuses the page's filter, or goes to the search. */
function search() {
  const field = document.getElementById("q");
  if (!field) return location.assign("/search");
  field.focus();
  field.select();
}

// What a timeline is about stands in its middle.
document.querySelector("main > .day .anchor")?.scrollIntoView({ block: "center" });

let waitingForPage = false;

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "k") {
    event.preventDefault();
    return open();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.closest("input, textarea, select");
  if (typing && typing.type !== "checkbox") {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (waitingForPage) {
    waitingForPage = false;
    const page = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
    if (page) return page.click();
  }
  const keys = { "/": search, j: () => move(1), k: () => move(-1), "?": () => help.showModal(), u: undo,
    p: () => act("pin"), x: () => act("hide"), e: () => act("edit"), g: () => { waitingForPage = true; } };
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

const field = document.getElementById("q");
if (field && location.pathname === "/search" && field.value === "") field.focus();
