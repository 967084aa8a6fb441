// Verdicts on what sessions were given, each with its undo.
import { call, say } from "./api.js";

/** judge sends a verdict on a record, and presses its buttons wherever they are. */
async function judge(record, verdict, session) {
  await call("POST", "/api/given/judge", { record, verdict, origin: "user", session_id: session });
  for (const button of document.querySelectorAll(`button[data-judge="${CSS.escape(record)}"]`)) {
    button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict));
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-judge]");
  if (!button) return;
  const { judge: record, verdict, session } = button.dataset;
  const before = [...button.parentElement.querySelectorAll("button[data-judge]")].find((b) => b.getAttribute("aria-pressed") === "true")?.dataset.verdict ?? "none";
  const next = before === verdict ? "none" : verdict;
  const said = { up: `${record} goes before its like`, down: `${record} is silenced: no session is told of it`, none: `${record} has no verdict any more` };
  try {
    await judge(record, next, Number(session));
    say(said[next], () => judge(record, before, Number(session)));
  } catch (error) {
    say(error.message);
  }
});
