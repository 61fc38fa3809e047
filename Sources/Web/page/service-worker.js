// Keeps the files of the page, so that it opens without a connection. It stores nothing but files
// whose address has a hash of their content, and never a message. A newer worker waits until the
// pages of this version are closed: they may still need files that the relay no longer has.

/** Where the relay is. */
const root = new URL("./", location).pathname;
const folder = `${root}web/{version}/`;
const files = "{files}";
const cacheName = `relay ${folder}`;
/** A page that opens waits for the relay, or for the cache, no longer than this. */
const patienceMs = 5000;

/** What the relay answers with the page: nothing that signs in is ever kept. */
const isBelow = (path) => path === "sign-in/device" || /^join\/[^/]+$/.test(path);
const isPage = (path) => path === "" || isBelow(path);

const inTime = (promise) =>
  Promise.race([
    promise,
    new Promise((_, reject) => {
      setTimeout(() => reject(new Error("no answer in time")), patienceMs);
    }),
  ]);

async function kept(request) {
  try {
    return await inTime(caches.match(request));
  } catch {
    return undefined;
  }
}

self.addEventListener("install", (event) => {
  event.waitUntil(
    (async () => {
      const cache = await caches.open(cacheName);
      await cache.addAll(files.map((name) => folder + name));
    })(),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) {
        if (name.startsWith(`relay ${root}web/`) && name !== cacheName) await caches.delete(name);
      }
      await self.clients.claim();
    })(),
  );
});

self.addEventListener("message", (event) => {
  if (event.data === "take over") event.waitUntil(self.clients.claim());
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin) return;
  const path = url.pathname.slice(root.length);
  if (path.startsWith("web/")) {
    event.respondWith((async () => (await kept(event.request)) ?? fetch(event.request))());
  } else if (event.request.mode === "navigate" && isPage(path)) {
    event.respondWith(
      (async () => {
        const answer = fetch(event.request);
        try {
          return await inTime(answer);
        } catch {
          return (await kept(`${folder}${isBelow(path) ? "below" : "index"}.html`)) ?? answer;
        }
      })(),
    );
  }
});

// A notification that is clicked brings the page to its conversation.
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(
    (async () => {
      const [page] = await self.clients.matchAll({ type: "window" });
      if (!page) return self.clients.openWindow(event.notification.data?.address ?? root);
      page.postMessage({ open: event.notification.data?.room });
      return page.focus();
    })(),
  );
});
