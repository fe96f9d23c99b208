// Names and numbers on the pool's cells, as text over the figure: a canvas measures all its text anew at every
// repaint, which cost a third of a step; here only cells whose owner has changed are touched.

import { say } from "./text.js";

const LONG = 5; // characters from which a name is set smaller

export class PoolLabels {
  // The layer lies in `place`, under `glass`, which takes the pointers.
  constructor(place, glass) {
    this._layer = document.createElement("div");
    this._layer.className = "pool-labels";
    this._layer.setAttribute("aria-hidden", "true");
    place.insertBefore(this._layer, glass);
    this._names = [];
    this._shown = [];
  }

  // One cell a block where there is room for a name; `numbered` where there is room for the block's number too.
  layOut(blocks, { columns, rows, labels, strip }) {
    this._names = [];
    this._shown = [];
    const cells = document.createDocumentFragment();
    for (let block = 0; labels && block < blocks; block++) {
      const cell = document.createElement("span");
      cell.style.left = `${((block % columns) * 100) / columns}%`;
      cell.style.top = `${(Math.floor(block / columns) * 100) / rows}%`;
      cell.style.width = `${100 / columns}%`;
      cell.style.height = `${100 / rows}%`;
      if (strip) {
        const number = document.createElement("i");
        number.textContent = block;
        cell.append(number);
      }
      const name = document.createElement("b");
      name.style.marginTop = strip ? "13px" : "0"; // below the strip of the number
      cell.append(name);
      cells.append(cell);
      this._names.push(name);
    }
    this._layer.replaceChildren(cells);
  }

  // `labels`: by block, {label, colour, alpha, solid}; a block without one has no name.
  show(labels) {
    this._names.forEach((name, block) => {
      const found = labels.get(block);
      const look = found ? `${found.label} ${found.colour.fill} ${found.alpha} ${found.solid}` : "";
      if (look === this._shown[block]) {
        return;
      }
      this._shown[block] = look;
      say(name, found ? found.label : "");
      name.classList.toggle("long", found?.label.length >= LONG);
      name.style.backgroundColor = found && !found.solid ? found.colour.fill : "transparent"; // else it has no ground
      if (found) {
        name.style.color = found.colour.label;
        name.style.opacity = found.alpha === 1 ? "1" : "0.3";
      }
    });
  }
}
