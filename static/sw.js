// The service worker: the second visit works with the network off.
//
// Files whose names carry a content hash never change, so the cache answers for them. The page itself is
// asked of the network first, so a new release is seen at once, and of the cache when the network is silent.
// A new release gets a cache of its own; the old one goes when no page uses it any longer.

// The build replaces this line; all paths are relative to the folder of this file.
const RELEASE = { version: "development", page: "index.html", files: [], later: [], asked: [] };

const PREFIX = `kvscope ${self.registration.scope} `;
const CACHE = PREFIX + RELEASE.version;
const PATIENCE_MS = 4000;

const absolute = (path) => new URL(path, self.registration.scope).href;
const PAGE = absolute(RELEASE.page);
const HASHED = new Set([...RELEASE.files, ...RELEASE.later, ...RELEASE.asked].map(absolute));

// Files of `asked` are kept once somebody has asked for them, and not before.
async function fill() {
  const cache = await caches.open(CACHE);
  // The page must be this release's: past the browser's own cache. Hashed files may come from there.
  await cache.add(new Request(PAGE, { cache: "reload" }));
  await cache.addAll(RELEASE.files.map(absolute));
  // Not needed for the page to work, so their failure does not undo the rest.
  await Promise.allSettled(RELEASE.later.map((path) => cache.add(absolute(path))));
}

async function dropOldReleases() {
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== CACHE) {
      await caches.delete(name);
    }
  }
  await self.clients.claim();
}

async function hashedFile(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request.url);
  if (kept) {
    return kept;
  }
  const fresh = await fetch(request);
  if (fresh.ok) {
    await cache.put(request.url, fresh.clone());
  }
  return fresh;
}

async function page(request) {
  const cache = await caches.open(CACHE);
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), PATIENCE_MS);
  try {
    const fresh = await fetch(request, { signal: silence.signal });
    if (fresh.ok) {
      return fresh;
    }
    return (await cache.match(PAGE)) ?? fresh;
  } catch (error) {
    const kept = await cache.match(PAGE);
    if (kept) {
      return kept;
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

self.addEventListener("install", (event) => event.waitUntil(fill()));
self.addEventListener("activate", (event) => event.waitUntil(dropOldReleases()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = request.url.split("#")[0];
  const bare = url.split("?")[0];
  if (request.method !== "GET") {
    return;
  }
  if (HASHED.has(url)) {
    event.respondWith(hashedFile(request));
  } else if (bare === PAGE || bare === self.registration.scope) {
    event.respondWith(page(request));
  }
});
