// Answers for the worker when it has left: with one page that has no data. Nothing else is kept, and a
// request that is not for a page goes its own way. The number grows when a kept file changes: 1.
const away = "/static/away.html", kept = [away, "/static/away.js", "/static/app.css"];

addEventListener("install", (event) => event.waitUntil(caches.open("away").then((cache) => cache.addAll(kept)).then(() => skipWaiting())));

// The browser itself asks for a page, so that the worker still sees whether another site made it.
addEventListener("activate", (event) => event.waitUntil(registration.navigationPreload?.enable()));

addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  if (method === "GET" && mode === "navigate") event.respondWith(event.preloadResponse.then((page) => page ?? fetch(event.request)).catch(() => caches.match(away)));
  else if (kept.includes(url.slice(location.origin.length))) event.respondWith(fetch(event.request).catch(() => caches.match(url)));
});
