// Runs one Python script in the pinned interpreter under node.
// node run.mjs <folder of the interpreter> <standard library zip> <job folder> <script> <interpreter info as JSON>
// The script sees the job folder as /job and site-packages as /job/site-packages, if that exists. With a further
// argument "snapshot" the memory that it leaves behind is written to /job/snapshot.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, library, job, script, info, snapshot] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const python = await loadPyodide({
  indexURL: `${folder}/`,
  packageBaseUrl: `${folder}/`,
  stdLibURL: library,
  lockFileContents: { info: JSON.parse(info), packages: {} },
  // The order of a frozenset constant inside a .pyc follows the hash seed.
  env: { PYTHONHASHSEED: "0" },
  _makeSnapshot: snapshot === "snapshot",
});
python.mountNodeFS("/job", job);
try {
  python.runPython(readFileSync(script, "utf8"), { filename: script });
  if (snapshot === "snapshot") {
    writeFileSync(`${job}/snapshot`, python.makeMemorySnapshot());
  }
} catch (error) {
  console.error(String(error.message ?? error));
  process.exit(1);
}
process.exit(0);
