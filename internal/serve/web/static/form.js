// A form whose results are a fragment of the same page: they follow what is typed and moved.
import { fragment } from "./api.js";

const form = document.querySelector("form[data-reload]");
const results = document.getElementById("results");
let running = null;
let waiting = 0;

/** address returns the page's address with what the form says. */
function address() {
  const url = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (value.trim()) url.searchParams.set(name, value);
  }
  return url;
}

async function update() {
  running?.abort();
  running = new AbortController();
  const url = address();
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

form?.addEventListener("input", (event) => {
  const shown = event.target.parentElement.querySelector("output");
  if (shown) shown.value = event.target.value;
  clearTimeout(waiting);
  waiting = setTimeout(update, 80);
});
