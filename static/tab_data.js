// What the page carries for the tabs Experiments and Replay (app/frontend/tab_data.py); parsed with the first of them.

export const tabData = JSON.parse(document.getElementById("tab-data").textContent);
