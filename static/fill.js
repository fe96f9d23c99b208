// Templates of the catalogue; app/backend/texts.py does the same in Python.

const FIELD = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g;
const thousands = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

// "{n|block|blocks} of {total}" with {n: 1, total: 1024} is "1 block of 1,024".
export function fill(template, fields) {
  return template.replace(FIELD, (_, name, one, other) => {
    if (!(name in fields)) {
      throw new Error(`field ${name} is missing for “${template}”`);
    }
    const value = fields[name];
    const shown = typeof value === "number" ? thousands.format(value) : String(value);
    return one === undefined ? shown : `${shown} ${value === 1 ? one : other}`.trimEnd();
  });
}
