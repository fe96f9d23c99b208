// Templates of the catalogue; app/backend/texts.py does the same in Python.

const FIELD = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g;

// 1024.25 as "1,024.3". Intl.NumberFormat does the same, but to make one takes longer than anything else that the page
// does before it plays.
function thousands(value) {
  const [whole, rest] = (Math.round(10 * Math.abs(value)) / 10).toString().split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${value < 0 ? "-" : ""}${grouped}${rest ? `.${rest}` : ""}`;
}

// "{n|block|blocks} of {total}" with {n: 1, total: 1024} is "1 block of 1,024".
export function fill(template, fields) {
  return template.replace(FIELD, (_, name, one, other) => {
    if (!(name in fields)) {
      throw new Error(`field ${name} is missing for “${template}”`);
    }
    const value = fields[name];
    const shown = typeof value === "number" ? thousands(value) : String(value);
    return one === undefined ? shown : `${shown} ${value === 1 ? one : other}`.trimEnd();
  });
}
