// The live feed: the stream says that something changed, the page's fragment says what.
import { fragment } from "./api.js";

const results = document.getElementById("results");
const live = document.getElementById("live");
let loading = false;
let again = false;

/** key returns the turn or record of a row, which is the same in each rendering. */
const key = (row) => row.closest("[data-id]").dataset.id;

/** records returns the turns and records that an element has, itself included. */
const records = (element) => [element, ...element.querySelectorAll("[data-id]")].map((e) => e.dataset.id).filter(Boolean);

/** update puts the first page in place of the one that is shown and marks the turns that are
 * new or have a new record. Who has a row in focus keeps it, and turns that are open stay so. */
async function update() {
  if (loading) {
    again = true;
    return;
  }
  loading = true;
  do {
    again = false;
    try {
      const html = await fragment(location.href);
      const known = new Set(records(results));
      const open = new Set([...results.querySelectorAll(".turn > details[open]")].map(key));
      const focused = document.activeElement?.closest("#results .row");
      const at = focused && key(focused);
      results.innerHTML = html;
      for (const turn of results.querySelectorAll(".day > .rows > li")) {
        turn.classList.toggle("new", records(turn).some((id) => !known.has(id)));
        if (open.has(key(turn))) turn.firstElementChild.open = true;
      }
      for (const row of at ? results.querySelectorAll(".row") : []) {
        if (key(row) === at) (row.matches("summary") ? row : row.querySelector("a.title")).focus({ preventScroll: true });
      }
    } catch {
      again = false; // the stream says when the worker is back
    }
  } while (again);
  loading = false;
}

/** connect follows the stream. A browser opens a lost stream again by itself, but not one that
 * was refused. */
function connect() {
  const stream = new EventSource("/api/stream");
  stream.addEventListener("open", () => {
    live.hidden = true;
    update(); // what came since the page was made, or while the connection was lost
  });
  stream.addEventListener("error", () => {
    live.textContent = "Connection lost – reconnecting";
    live.hidden = false;
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
  });
  for (const event of ["observation", "summary", "prompt", "reset"]) stream.addEventListener(event, update);
  addEventListener("pagehide", () => stream.close());
}

if (results.dataset.live === "true") {
  connect();
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}
