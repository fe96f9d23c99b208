// Packages that Python loads only when an experiment needs them.

import { backend } from "./backend.js";
import { pageData } from "./page_data.js";
import { text } from "./text.js";

const MEGABYTE = 1_000_000;
const rounded = (bytes) => Math.round((10 * bytes) / MEGABYTE) / 10;

function said(name) {
  return ({ done, total }) => {
    const key = total && done >= total ? "start" : total ? "of" : "so_far";
    return text(`tab.package.${key}`, { name, done: rounded(done), total: rounded(total) });
  };
}

// A package that is not there, in words: {message, words()}.
class PackageError extends Error {
  constructor(key, fields) {
    super(`${fields.name}: ${key}`);
    this.words = () => text(`tab.package.${key}`, fields);
  }
}

// Resolves once every package of `names` can be imported; report(progress, words) tells how far it is. Rejects
// with an error whose words() say what is missing and what to do.
export async function needPackages(names = [], report) {
  for (const name of pageData.transport === "server" ? [] : names) {
    const url = pageData.urls[`python/${name}.whl`];
    if (!url) {
      throw new PackageError("absent", { name });
    }
    report({ done: 0, total: 0 }, said(name));
    try {
      await backend.install(name, new URL(url, document.baseURI).href, (progress) => report(progress, said(name)));
    } catch (error) {
      throw new PackageError("failed", { name, reason: String(error.message ?? error) });
    }
  }
}
