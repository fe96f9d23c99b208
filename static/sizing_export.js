// A sizing answer to take along: its settings, figures, memory and curve as tables of report_export.js, and what its
// picture shows. Knows no page.

const SETTINGS = ["model", "gpu", "tp", "ctx", "wbits", "kvbits", "bs", "util", "seqs", "budget"];

const column = (key, kind = "int") => ({ key, kind });

// answer, curve: as the handler's "sizing" gives them. Sizes are in bytes, so that nothing is rounded.
export function tablesOf(answer, curve) {
  const { settings, terms, memory, kv } = answer;
  return [
    {
      key: "sizing.title",
      columns: [column("tab.sizing.export.what", "key"), column("tab.sizing.export.value")],
      rows: [
        ...SETTINGS.map((name) => [`tab.sizing.set.${name}`, settings[name]]),
        ["tab.sizing.column.users", answer.users],
        ["tab.sizing.figure.tokens", answer.num_tokens],
        ["tab.sizing.figure.blocks", answer.num_blocks],
        ["tab.sizing.figure.token", kv.bytes_per_token],
        ["tab.sizing.export.user", answer.bytes_per_user],
        ["tab.sizing.export.textbook", answer.textbook_users],
      ],
    },
    {
      key: "tab.sizing.memory",
      columns: [column("tab.sizing.column.term", "key"), column("tab.sizing.export.bytes")],
      rows: [["sizing.term.memory", memory], ...Object.entries(terms).map(([name, size]) => [`sizing.term.${name}`, size])],
    },
    {
      key: "tab.sizing.curve",
      columns: [
        column("tab.sizing.column.context"),
        column("tab.sizing.column.users"),
        column("tab.sizing.export.user"),
      ],
      rows: curve.context.map((context, i) => [context, curve.users[i], curve.bytes[i]]),
    },
  ];
}

// The two charts as pictureOf of chart_picture.js takes them.
// bar, line: canvases; words(key, fields): a text; looks: [{name, colour}] of the parts of the memory, by `terms`;
// gigabytes(bytes): as a number.
export function chartsOf(answer, { bar, line }, words, looks, gigabytes) {
  const legend = looks.map(({ name, colour }) => ({
    name: `${words(`sizing.term.${name}`)} · ${words("tab.sizing.gigabytes", { n: gigabytes(answer.terms[name]) })}`,
    colour,
  }));
  return [
    { title: words("tab.sizing.memory"), axes: ["", ""], canvas: bar, wide: true, legend },
    {
      title: words("tab.sizing.curve"),
      axes: [words("tab.sizing.curve.users"), words("tab.sizing.curve.context")],
      canvas: line,
      wide: false,
    },
  ];
}
