// Search as you type: the results are a fragment of the same page.
import { fragment } from "./api.js";

const field = document.getElementById("q");
const results = document.getElementById("results");
let running = null;
let waiting = 0;

async function update() {
  running?.abort();
  running = new AbortController();
  const url = new URL("/search", location.href);
  if (field.value.trim()) url.searchParams.set("q", field.value);
  results.setAttribute("aria-busy", "true");
  try {
    const html = await fragment(url, running.signal);
    results.innerHTML = html;
    history.replaceState(null, "", url);
  } catch (error) {
    if (error.name === "AbortError") return;
    results.innerHTML = '<div class="empty" role="alert"><p>The worker does not answer.</p><p class="hint">It is started again by the next session, or by <code>claude-mem worker start</code>.</p></div>';
  }
  results.setAttribute("aria-busy", "false");
}

field.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(update, 80);
});
