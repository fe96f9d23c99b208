// An experiment's report to take along: all of it as JSON, its tables as CSV, its charts as one picture.

const quoted = (words) => (/[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words);

// The tables one below the other, each under its title; words(key): a text, heading([key, unit]): a column's.
export function csvOf(tables, words, heading) {
  const cell = (value, { kind }) => (value === null ? "" : kind === "key" ? words(value) : String(value));
  return tables
    .map(({ key, columns, rows }) => [
      [words(key)],
      columns.map(({ key: name, unit }) => heading([name, unit])),
      ...rows.map((row) => row.map((value, i) => cell(value, columns[i]))),
    ])
    .map((lines) => lines.map((line) => `${line.map(quoted).join(",")}\n`).join(""))
    .join("\n");
}

// The report with its claims in every language, and the settings it was measured with.
export function jsonOf(report) {
  return JSON.stringify({ version: 1, ...report });
}
